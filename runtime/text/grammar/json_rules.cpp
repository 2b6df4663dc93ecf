#include "runtime/text/grammar/json_rules.h"

namespace nmc {
namespace {

// Enough for every double and every 64-bit integer; more digits would only read as infinity.
constexpr int64_t kMaxIntegerDigits = 19, kMaxFractionDigits = 18, kMaxExponentDigits = 2;
constexpr int64_t kMaxIndent = 64;

std::string shared(const char* name) {
  return std::string(kSharedRulePrefix) + name;
}

}  // namespace

JsonRules::JsonRules(GrammarBuilder& builder) : builder_(builder) {
  GrammarBuilder& b = builder_;
  ExprId blank = b.bytes(ByteSet::of(" "));
  ExprId indent = b.repeat(b.bytes(ByteSet::of(" \t")), 0, kMaxIndent);
  space_ = b.rule(shared("space"),
                  b.choice({b.repeat(blank, 0, 2),
                            b.sequence({b.optional(b.literal("\r")), b.literal("\n"), indent})}));
  string_tail_ = b.rule(shared("string-tail"),
                        b.sequence({b.repeat(any_character(), 0, kNoLimit), b.literal("\"")}));
  string_ = b.rule(
      shared("string"),
      b.sequence({b.literal("\""), b.repeat(any_character(), 0, kNoLimit), b.literal("\"")}));
  number_ = b.rule(shared("number"), make_number(true));
  integer_ = b.rule(shared("integer"), make_number(false));

  value_ = b.declare("value");
  object_ = b.declare("object");
  array_ = b.declare("array");
  b.define(value_, b.choice({string(), number(), object(), array(), b.literal("true"),
                             b.literal("false"), b.literal("null")}));
  ExprId member = b.sequence({string(), space(), colon(), value()});
  b.define(object_, list('{', member, 0, kNoLimit, '}'));
  b.define(array_, list('[', value(), 0, kNoLimit, ']'));
}

ExprId JsonRules::comma() const {
  return builder_.sequence({space(), builder_.literal(","), space()});
}
ExprId JsonRules::colon() const {
  return builder_.sequence({builder_.literal(":"), space()});
}

ExprId JsonRules::list(char open, ExprId item, int64_t min, int64_t max, char close) const {
  GrammarBuilder& b = builder_;
  ExprId first = b.literal({&open, 1}), last = b.literal({&close, 1});
  if (max == 0) return b.sequence({first, space(), last});
  ExprId more = b.repeat(b.sequence({comma(), item}), min > 0 ? min - 1 : 0,
                         max == kNoLimit ? kNoLimit : max - 1);
  ExprId items = b.sequence({item, more, space()});
  return b.sequence({first, space(), min == 0 ? b.optional(items) : items, last});
}

ExprId JsonRules::make_number(bool fraction) const {
  GrammarBuilder& b = builder_;
  ExprId digit = b.bytes(ByteSet::range('0', '9'));
  ExprId whole = b.choice(
      {b.literal("0"),
       b.sequence({b.bytes(ByteSet::range('1', '9')), b.repeat(digit, 0, kMaxIntegerDigits - 1)})});
  ExprId number = b.sequence({b.optional(b.literal("-")), whole});
  if (!fraction) return number;
  ExprId point = b.sequence({b.literal("."), b.repeat(digit, 1, kMaxFractionDigits)});
  ExprId exponent = b.sequence({b.bytes(ByteSet::of("eE")), b.optional(b.bytes(ByteSet::of("+-"))),
                                b.repeat(digit, 1, kMaxExponentDigits)});
  return b.sequence({number, b.optional(point), b.optional(exponent)});
}

ExprId JsonRules::character(const std::vector<CodePoints>& ranges) const {
  static constexpr struct {
    uint32_t code;
    const char* escape;
  } kShort[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\b', "\\b"}, {'\f', "\\f"},
                {'\n', "\\n"}, {'\r', "\\r"},  {'\t', "\\t"}};
  std::vector<CodePoints> plain;
  std::vector<ExprId> options;
  std::vector<CodePoints> wanted = normalized(ranges);
  auto has = [&](uint32_t c) {
    for (CodePoints r : wanted) {
      if (c >= r.low && c <= r.high) return true;
    }
    return false;
  };
  for (auto [code, escape] : kShort) {
    if (has(code)) options.push_back(builder_.literal(escape));
  }
  // Control characters without a short escape are not produced.
  for (CodePoints r : wanted) {
    for (CodePoints allowed : {CodePoints{0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0x10ffff}}) {
      CodePoints part{std::max(r.low, allowed.low), std::min(r.high, allowed.high)};
      if (part.low <= part.high) plain.push_back(part);
    }
  }
  if (!plain.empty()) options.push_back(utf8_character(builder_, plain));
  return builder_.choice(std::move(options));
}

ExprId JsonRules::any_character() const {
  GrammarBuilder& b = builder_;
  auto set = [&](const char* chars) { return b.bytes(ByteSet::of(chars)); };
  ExprId hex = set("0123456789abcdefABCDEF");
  // A \u escape of a surrogate must be half of a pair, or the string is no Unicode text.
  ExprId ordinary =
      b.choice({b.sequence({set("0123456789abcefABCEF"), hex, hex, hex}),
                b.sequence({set("dD"), b.bytes(ByteSet::range('0', '7')), hex, hex})});
  ExprId high = b.sequence({set("dD"), set("89abAB"), hex, hex});
  ExprId low = b.sequence({b.literal("\\u"), set("dD"), set("cdefCDEF"), hex, hex});
  ExprId escape =
      b.choice({set("\"\\/bfnrt"),
                b.sequence({b.literal("u"), b.choice({ordinary, b.sequence({high, low})})})});
  ExprId plain = utf8_character(b, {{0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0x10ffff}});
  return b.choice({plain, b.sequence({b.literal("\\"), escape})});
}

}  // namespace nmc
