#include "runtime/text/tokenizer/regex_syntax.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

namespace nmc::tok {
namespace {

// Members of a class, without its brackets: White_Space and everything else.
constexpr const char* kSpace =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr const char* kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff})"
    R"(\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
// A word character in a class, and outside, where Oniguruma reads Latin-1 from another table.
constexpr const char* kWordInClass = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr const char* kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
constexpr const char* kHex = "0-9A-Fa-f";

// General categories and the long names that Oniguruma has for them.
const std::map<std::string, std::string, std::less<>> kLongCategories = {
    {"letter", "L"}, {"mark", "M"},      {"number", "N"},
    {"symbol", "S"}, {"separator", "Z"}, {"punctuation", "P"}};
constexpr std::array kBinaryProperties = {"alphabetic", "uppercase", "lowercase", "emoji",
                                          "ideographic"};

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where)
      : rest_(pattern), pattern_(pattern), where_(where) {}

  Result<std::string> run() {
    while (!rest_.empty()) {
      NMC_TRY(in_class_ ? class_item() : item());
    }
    return std::move(out_);
  }

 private:
  Status refuse(std::string_view construct) const {
    return unsupported("tokenizer.json: " + std::string(where_) + ": " + std::string(construct) +
                       " in the regular expression \"" + std::string(pattern_) +
                       "\" is not supported");
  }

  char take() {
    char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }

  Status item() {
    if (rest_.starts_with("{")) return brace();
    if (rest_.starts_with(")")) return close_group();
    if (std::string_view("*+?|").find(rest_.front()) != std::string_view::npos)
      return emit(std::string(1, take()));
    atom_ = out_.size();
    if (rest_.starts_with("(")) open_groups_.push_back(atom_);
    if (take("(?#")) return refuse("a comment group");
    if (take("(?")) {
      out_ += "(?";
      // Options such as (?i: or (?i); lookarounds and plain groups have no letters here.
      while (!rest_.empty() && (std::isalpha(static_cast<uint8_t>(rest_[0])) || rest_[0] == '-')) {
        if (rest_[0] != 'i' && rest_[0] != '-') return refuse("a group option other than i");
        out_ += take();
      }
      // In the middle, Oniguruma takes the alternatives that follow into the group as well.
      if (rest_.starts_with(")") && atom_ != 0) return refuse("an option behind the start");
      return {};
    }
    char c = take();
    if (c == '\\') return escape();
    out_ += c;
    if (c == '[') {
      in_class_ = true;
      if (take("^")) out_ += '^';
      // A bracket that comes first is a member, in PCRE2 as well; Oniguruma agrees with a warning.
      if (take("]")) out_ += "\\]";
    }
    return {};
  }

  Status close_group() {
    if (open_groups_.empty()) return refuse("a closing parenthesis without an opening one");
    atom_ = open_groups_.back();
    open_groups_.pop_back();
    return emit(std::string(1, take()));
  }

  // An interval such as {1,3}, or a brace that stands for itself.
  Status brace() {
    size_t end = rest_.find_first_not_of("0123456789,", 1);
    bool closed = end != std::string_view::npos && rest_[end] == '}';
    std::string_view body = closed ? rest_.substr(1, end - 1) : std::string_view();
    bool interval = body.find_first_of("0123456789") != std::string_view::npos &&
                    std::count(body.begin(), body.end(), ',') <= 1;
    if (!interval) {
      atom_ = out_.size();
      rest_.remove_prefix(1);
      return emit("\\{");
    }
    rest_.remove_prefix(end + 1);
    bool fixed = body.find(',') == std::string_view::npos;
    if (fixed && rest_.starts_with("?")) return refuse("an interval of one number before ?");
    bool repeated = rest_.starts_with("+");
    if (repeated) out_.insert(atom_, "(?:");
    out_ += body.starts_with(",") ? "{0" : "{";
    out_ += body;
    return emit(repeated ? "})" : "}");
  }

  Status class_item() {
    if (take("[:space:]")) return emit(kSpace);
    if (take("[:digit:]")) return emit("\\p{Nd}");
    if (rest_.starts_with("[")) return refuse("a class inside a class");
    if (rest_.starts_with("&&")) return refuse("an intersection of classes");
    char c = take();
    if (c == '\\') return escape();
    out_ += c;
    if (c == ']') in_class_ = false;
    return {};
  }

  Status emit(std::string_view text) {
    out_ += text;
    return {};
  }
  // The members of a class, with brackets where there are none yet.
  Status members(std::string_view list, bool negated = false) {
    if (in_class_) return emit(list);
    out_ += negated ? "[^" : "[";
    out_ += list;
    out_ += ']';
    return {};
  }

  Status escape() {
    if (rest_.empty()) return refuse("a backslash at the end");
    char c = take();
    switch (c) {
      case 's':
        return members(kSpace);
      case 'S':
        return members(kNotSpace);
      case 'w':
        return members(in_class_ ? kWordInClass : kWord);
      case 'W':
        return in_class_ ? refuse("\\W inside a class") : members(kWord, true);
      case 'h':
        return members(kHex);
      case 'H':
        return in_class_ ? refuse("\\H inside a class") : members(kHex, true);
      case 'b':
        return in_class_ ? emit("\\x08") : boundary(true);
      case 'B':
        return in_class_ ? refuse("\\B inside a class") : boundary(false);
      case 'u':
        return code_point();
      case 'p':
      case 'P':
        return property(c);
      case 'd':
      case 'D':
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'v':
      case 'a':
      case 'e':
      case 'x':
      case 'A':
      case 'z':
        if (c == 'v') return emit("\\x0b");
        break;
      default:
        // Other letters and digits mean too different things to pass on.
        if (std::isalnum(static_cast<uint8_t>(c))) return refuse(std::string("\\") + c);
    }
    out_ += '\\';
    out_ += c;
    return {};
  }

  Status boundary(bool at) {
    std::string w = "[" + std::string(kWord) + "]";
    return emit(at ? "(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))"
                   : "(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))");
  }

  Status code_point() {
    bool hex = rest_.size() >= 4 && std::all_of(rest_.begin(), rest_.begin() + 4, [](char c) {
                 return std::isxdigit(static_cast<uint8_t>(c));
               });
    if (!hex) return refuse("\\u without four hexadecimal digits");
    out_ += "\\x{" + std::string(rest_.substr(0, 4)) + "}";
    rest_.remove_prefix(4);
    return {};
  }

  Status property(char kind) {
    size_t end = rest_.find('}');
    if (!rest_.starts_with("{") || end == std::string_view::npos)
      return refuse(std::string("\\") + kind + " without a name in braces");
    std::string name(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    bool negated = (kind == 'P') != name.starts_with("^");
    if (name.starts_with("^")) name.erase(0, 1);
    std::string lower;
    for (char c : name) lower += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
    if (lower == "white_space" || lower == "space") {
      return members(negated ? kNotSpace : kSpace);
    }
    if (auto it = kLongCategories.find(lower); it != kLongCategories.end())
      name = it->second;
    else if (name.size() > 2 && std::find(kBinaryProperties.begin(), kBinaryProperties.end(),
                                          lower) == kBinaryProperties.end())
      name = "sc:" + name;  // PCRE2 refuses what is no script
    return emit((negated ? "\\P{" : "\\p{") + name + "}");
  }

  std::string_view rest_, pattern_, where_;
  std::string out_;
  bool in_class_ = false;
  size_t atom_ = 0;                  // where the last atom starts in out_
  std::vector<size_t> open_groups_;  // where the open groups start in out_
};

}  // namespace

Result<std::string> oniguruma_to_pcre2(std::string_view pattern, std::string_view where) {
  return Translator(pattern, where).run();
}

}  // namespace nmc::tok
