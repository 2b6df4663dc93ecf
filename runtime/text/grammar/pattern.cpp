#include "runtime/text/grammar/pattern.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace nmc {
namespace {

constexpr int kMaxPatternNesting = 32;
constexpr int64_t kMaxPatternRepeat = 1000;

const std::vector<CodePoints> kDigits{{'0', '9'}};
const std::vector<CodePoints> kWord{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const std::vector<CodePoints> kSpace{
    {9, 13},          {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
const std::vector<CodePoints> kLineEnds{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

// How the text that is to match is spelled.
struct Spelling {
  std::function<ExprId(const std::vector<CodePoints>&)> character;
  // What may stand on both sides of a match without anchors; nothing: the match is the whole text.
  std::optional<ExprId> around;
};

// A recursive-descent parser that builds the grammar as it reads.
class PatternParser {
 public:
  PatternParser(GrammarBuilder& b, Spelling spelling, std::string_view text)
      : b_(b), spelling_(std::move(spelling)), text_(text) {}

  Result<ExprId> parse() {
    NMC_ASSIGN(ExprId body, alternatives(true));
    if (at_ < text_.size()) return fail("an opening parenthesis is missing");
    return body;
  }

 private:
  Status fail(const std::string& why) const {
    return invalid_argument("the pattern cannot be used: " + why + " at character " +
                            std::to_string(at_));
  }
  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(std::string_view s) {
    if (text_.substr(at_, s.size()) != s) return false;
    at_ += s.size();
    return true;
  }

  // `top`: the pattern itself, where anchors may stand.
  Result<ExprId> alternatives(bool top) {
    std::vector<ExprId> options;
    do {
      bool from_start = top && take("^");
      std::vector<ExprId> parts;
      if (top && !from_start && spelling_.around) parts.push_back(*spelling_.around);
      bool to_end = false;
      while (at_ < text_.size() && !peek('|') && !peek(')')) {
        if (top && peek('$') && (at_ + 1 == text_.size() || text_[at_ + 1] == '|')) {
          ++at_;
          to_end = true;
          break;
        }
        NMC_ASSIGN(ExprId term, quantified());
        parts.push_back(term);
      }
      if (top && !to_end && spelling_.around) parts.push_back(*spelling_.around);
      options.push_back(b_.sequence(std::move(parts)));
    } while (take("|"));
    return b_.choice(std::move(options));
  }

  Result<ExprId> quantified() {
    NMC_ASSIGN(ExprId atom, this->atom());
    int64_t min = 1, max = 1;
    if (take("*"))
      min = 0, max = kNoLimit;
    else if (take("+"))
      max = kNoLimit;
    else if (take("?"))
      min = 0;
    else if (peek('{')) {
      size_t before = at_;
      if (!counts(&min, &max)) {
        at_ = before;
        return fail("a brace that is no count");
      }
      if (max != kNoLimit && (min > max || max > kMaxPatternRepeat))
        return fail("a count out of order or above 1000");
      if (min > kMaxPatternRepeat) return fail("a count above 1000");
    }
    take("?");  // laziness changes what a match captures, not what matches
    return b_.repeat(atom, min, max);
  }

  bool counts(int64_t* min, int64_t* max) {
    take("{");
    auto number = [&]() -> std::optional<int64_t> {
      size_t start = at_;
      int64_t v = 0;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - start < 6)
        v = v * 10 + (text_[at_++] - '0');
      return at_ == start ? std::nullopt : std::optional(v);
    };
    auto low = number();
    if (!low) return false;
    *min = *max = *low;
    if (take(",")) *max = number().value_or(kNoLimit);
    return take("}");
  }

  Result<ExprId> atom() {
    if (take("(")) {
      if (take("?:")) {
      } else if (take("?<") && !peek('=') && !peek('!')) {
        while (at_ < text_.size() && !peek('>')) ++at_;
        take(">");
      } else if (at_ > 0 && (text_[at_ - 1] == '<' || peek('?'))) {
        return fail("look-around is not supported,");
      }
      if (++nesting_ > kMaxPatternNesting) return fail("groups nest too deeply");
      NMC_ASSIGN(ExprId body, alternatives(false));
      --nesting_;
      if (!take(")")) return fail("a closing parenthesis is missing");
      return body;
    }
    if (take(".")) return spelling_.character(complement(kLineEnds));
    if (peek('[')) {
      NMC_ASSIGN(std::vector<CodePoints> set, char_class());
      return spelling_.character(set);
    }
    if (peek('^') || peek('$')) return fail("an anchor inside the pattern is not supported,");
    if (peek('*') || peek('+') || peek('?') || peek('{')) return fail("nothing to repeat");
    NMC_ASSIGN(std::vector<CodePoints> set, single());
    return spelling_.character(set);
  }

  // One escape or one character.
  Result<std::vector<CodePoints>> single() {
    if (take("\\")) return escape();
    return std::vector<CodePoints>{code_point()};
  }

  CodePoints code_point() {
    uint32_t c = next_code_point(text_, &at_);
    return {c, c};
  }

  Result<std::vector<CodePoints>> escape() {
    if (at_ == text_.size()) return fail("a backslash stands alone");
    char c = text_[at_++];
    auto one = [](uint32_t v) { return std::vector<CodePoints>{{v, v}}; };
    switch (c) {
      case 'd':
        return kDigits;
      case 'D':
        return complement(kDigits);
      case 'w':
        return kWord;
      case 'W':
        return complement(kWord);
      case 's':
        return kSpace;
      case 'S':
        return complement(kSpace);
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      default:
        break;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      return fail(std::string("the escape \\") + c + " is not supported,");
    }
    --at_;
    return std::vector<CodePoints>{code_point()};
  }

  Result<std::vector<CodePoints>> hex(size_t digits) {
    std::optional<uint32_t> read = next_hex(text_, &at_, digits);
    if (!read) return fail("a hexadecimal escape is cut");
    uint32_t v = *read;
    if (v >= 0xd800 && v <= 0xdfff) return fail("half of a surrogate pair");
    return std::vector<CodePoints>{{v, v}};
  }

  Result<std::vector<CodePoints>> char_class() {
    take("[");
    bool negated = take("^");
    std::vector<CodePoints> set;
    while (true) {
      if (at_ == text_.size()) return fail("a class is not closed");
      if (take("]")) break;
      NMC_ASSIGN(std::vector<CodePoints> low, class_atom());
      bool range = peek('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      if (range && low.size() == 1 && low[0].low == low[0].high) {
        ++at_;
        NMC_ASSIGN(std::vector<CodePoints> high, class_atom());
        if (high.size() != 1 || high[0].low != high[0].high || high[0].low < low[0].low)
          return fail("a range out of order");
        set.push_back({low[0].low, high[0].low});
      } else {
        set.insert(set.end(), low.begin(), low.end());
      }
    }
    return negated ? complement(set) : set;
  }

  Result<std::vector<CodePoints>> class_atom() {
    if (text_.substr(at_, 2) == "\\b") {
      at_ += 2;
      return std::vector<CodePoints>{{8, 8}};
    }
    return single();
  }

  GrammarBuilder& b_;
  const Spelling spelling_;
  std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

Result<ExprId> pattern_expression(GrammarBuilder& builder, const JsonRules& rules,
                                  std::string_view pattern) {
  auto character = [&](const std::vector<CodePoints>& set) { return rules.character(set); };
  const ExprId around = builder.repeat(rules.any_character(), 0, kNoLimit);
  return PatternParser(builder, {character, around}, pattern).parse();
}

Result<ExprId> text_pattern_expression(GrammarBuilder& builder, std::string_view pattern) {
  auto character = [&](const std::vector<CodePoints>& set) { return utf8_character(builder, set); };
  return PatternParser(builder, {character, std::nullopt}, pattern).parse();
}

Result<ExprId> text_pattern_expression(GrammarBuilder& builder, std::string_view pattern,
                                       const std::vector<CodePoints>& without) {
  auto character = [&](const std::vector<CodePoints>& set) {
    std::vector<CodePoints> outside = complement(normalized(set));
    outside.insert(outside.end(), without.begin(), without.end());
    return utf8_character(builder, complement(outside));
  };
  const ExprId around = builder.repeat(character({{0, 0x10ffff}}), 0, kNoLimit);
  return PatternParser(builder, {character, around}, pattern).parse();
}

std::optional<CountedClass> counted_class(std::string_view pattern) {
  GrammarBuilder b;
  std::vector<std::vector<CodePoints>> sets;
  auto character = [&](const std::vector<CodePoints>& set) {
    sets.push_back(set);
    return b.bytes({});
  };
  const Result<ExprId> whole = PatternParser(b, {character, b.empty()}, pattern).parse();
  if (!whole.ok() || sets.size() != 1) return std::nullopt;
  const Expr& e = b.expr(*whole);
  CountedClass found{.characters = normalized(sets[0])};
  if (e.kind == Expr::Kind::kBytes) return found;
  if (e.kind != Expr::Kind::kRepeat || b.expr(e.children[0]).kind != Expr::Kind::kBytes) {
    return std::nullopt;
  }
  found.min = e.min;
  found.max = e.max;
  return found;
}

}  // namespace nmc
