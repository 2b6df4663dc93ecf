#include "runtime/text/grammar/gbnf.h"

#include <algorithm>
#include <map>
#include <set>

namespace nmc {
namespace {

constexpr int kMaxNesting = 64;
constexpr int64_t kMaxRepeat = 10'000;
constexpr size_t kMaxBytes = 1 << 20;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class GbnfParser {
 public:
  GbnfParser(GrammarBuilder& b, std::string_view text) : b_(b), text_(text) {}

  Result<RuleId> parse() {
    if (text_.size() > kMaxBytes) return fail("the grammar has more than 1 MiB");
    for (skip(true); at_ < text_.size(); skip(true)) NMC_TRY(rule());
    for (const auto& [name, id] : rules_) {
      if (!defined_.contains(name))
        return invalid_argument("the grammar calls the rule \"" + name +
                                "\" but does not define it");
    }
    auto root = rules_.find("root");
    if (root == rules_.end()) return invalid_argument("the grammar has no rule \"root\"");
    return root->second;
  }

 private:
  Status fail(const std::string& why) const {
    auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                       '\n');
    return invalid_argument("the grammar cannot be used: " + why + " in line " +
                            std::to_string(line));
  }
  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(std::string_view s) {
    if (text_.substr(at_, s.size()) != s) return false;
    at_ += s.size();
    return true;
  }
  // Blanks and comments; line ends only where a rule may go on behind them.
  void skip(bool lines) {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '#')
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r')))
        ++at_;
      else
        return;
    }
  }

  std::string name() {
    size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  RuleId rule_id(const std::string& name) {
    auto it = rules_.find(name);
    return it != rules_.end() ? it->second : rules_[name] = b_.declare(name);
  }

  Status rule() {
    std::string rule_name = name();
    if (rule_name.empty()) return fail("a rule name is expected");
    skip(false);
    if (!take("::=")) return fail("\"::=\" is expected behind \"" + rule_name + "\"");
    if (!defined_.insert(rule_name).second)
      return fail("the rule \"" + rule_name + "\" is defined twice");
    skip(true);
    NMC_ASSIGN(ExprId body, alternatives(0));
    b_.define(rule_id(rule_name), body);
    skip(false);
    if (at_ < text_.size() && !peek('\n') && !peek('\r'))
      return fail("the rule \"" + rule_name + "\" goes on with something unknown");
    return {};
  }

  Result<ExprId> alternatives(int nesting) {
    if (nesting > kMaxNesting) return fail("groups nest too deeply");
    std::vector<ExprId> options;
    do {
      skip(true);
      NMC_ASSIGN(ExprId option, sequence(nesting));
      options.push_back(option);
      skip(nesting > 0);
      // An alternative may start a new line.
      size_t before = at_;
      skip(true);
      if (!peek('|')) at_ = before;
    } while (take("|"));
    return b_.choice(std::move(options));
  }

  Result<ExprId> sequence(int nesting) {
    std::vector<ExprId> parts;
    while (at_ < text_.size() && !peek('|') && !peek(')') && !peek('\n') && !peek('\r')) {
      NMC_ASSIGN(ExprId item, repeated(nesting));
      parts.push_back(item);
      skip(nesting > 0);
    }
    return b_.sequence(std::move(parts));
  }

  Result<ExprId> repeated(int nesting) {
    NMC_ASSIGN(ExprId e, item(nesting));
    while (true) {
      int64_t min = 1, max = 1;
      if (take("*"))
        min = 0, max = kNoLimit;
      else if (take("+"))
        max = kNoLimit;
      else if (take("?"))
        min = 0;
      else if (peek('{'))
        NMC_TRY(counts(&min, &max));
      else
        return e;
      e = b_.repeat(e, min, max);
    }
  }

  Status counts(int64_t* min, int64_t* max) {
    take("{");
    auto number = [&](int64_t fallback) {
      skip(false);
      int64_t v = fallback;
      for (bool first = true; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
           first = false) {
        v = std::min<int64_t>((first ? 0 : v) * 10 + (text_[at_++] - '0'), kMaxRepeat + 1);
      }
      skip(false);
      return v;
    };
    *min = number(0);
    *max = take(",") ? number(kNoLimit) : *min;
    if (!take("}")) return fail("a repetition count is not closed");
    if (*min > kMaxRepeat || *max > kMaxRepeat)
      return fail("a repetition count is above " + std::to_string(kMaxRepeat));
    if (*max != kNoLimit && *min > *max) return fail("a repetition count is out of order");
    return {};
  }

  Result<ExprId> item(int nesting) {
    if (take("(")) {
      NMC_ASSIGN(ExprId body, alternatives(nesting + 1));
      skip(true);
      if (!take(")")) return fail("a parenthesis is not closed");
      return body;
    }
    if (take(".")) return utf8_character(b_, {{0, 0x10ffff}});
    if (take("\"")) return literal();
    if (take("[")) return char_class();
    std::string callee = name();
    if (callee.empty()) return fail("a literal, a class, a group or a rule name is expected");
    return b_.call(rule_id(callee));
  }

  Result<ExprId> literal() {
    std::vector<ExprId> parts;
    while (!take("\"")) {
      NMC_ASSIGN(uint32_t c, character());
      parts.push_back(utf8_character(b_, {{c, c}}));
    }
    return b_.sequence(std::move(parts));
  }

  Result<ExprId> char_class() {
    bool negated = take("^");
    std::vector<CodePoints> set;
    while (!take("]")) {
      NMC_ASSIGN(uint32_t low, character());
      uint32_t high = low;
      if (peek('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        NMC_ASSIGN(high, character());
        if (high < low) return fail("a range is out of order");
      }
      set.push_back({low, high});
    }
    return utf8_character(b_, negated ? complement(set) : set);
  }

  // One character of a literal or class, escapes resolved.
  Result<uint32_t> character() {
    if (at_ >= text_.size() || peek('\n')) return fail("a literal or class is not closed");
    if (!take("\\")) {
      return next_code_point(text_, &at_);
    }
    if (at_ >= text_.size()) return fail("a backslash stands alone");
    char c = text_[at_++];
    switch (c) {
      case 'n':
        return uint32_t{'\n'};
      case 'r':
        return uint32_t{'\r'};
      case 't':
        return uint32_t{'\t'};
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case '"':
      case '\\':
      case '[':
      case ']':
      case '-':
      case '^':
        return uint32_t{static_cast<uint8_t>(c)};
      default:
        return fail(std::string("the escape \\") + c + " is not known");
    }
  }

  Result<uint32_t> hex(size_t digits) {
    std::optional<uint32_t> read = next_hex(text_, &at_, digits);
    if (!read) return fail("a hexadecimal escape is cut");
    uint32_t v = *read;
    if (v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
      return fail("a hexadecimal escape names no character");
    return v;
  }

  GrammarBuilder& b_;
  std::string_view text_;
  size_t at_ = 0;
  std::map<std::string, RuleId> rules_;
  std::set<std::string> defined_;
};

}  // namespace

Result<RuleId> parse_gbnf(GrammarBuilder& builder, std::string_view text) {
  return GbnfParser(builder, text).parse();
}

}  // namespace nmc
