// The "pre_tokenizer" of a tokenizer.json: cuts text into the words that are encoded on their own.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/text/tokenizer/digit_groups.h"
#include "runtime/text/tokenizer/regex.h"
#include "runtime/text/tokenizer/split.h"

namespace nmc::tok {

// Split, Digits, ByteLevel and Sequences of them; others are refused by name. Immutable,
// thread-safe.
class PreTokenizer {
 public:
  // Working memory of one call of `split`, and the owner of text that steps insert.
  struct Scratch {
    RegexScratch regex;
    std::vector<std::string_view> words;  // the result
    std::vector<std::string_view> previous;
    std::deque<std::string> inserted;
  };

  // `component` is the field's value; null means that the text is one word.
  static Result<PreTokenizer> build(const Json& component);

  // Whether words are to be read as byte strings in the byte alphabet (a ByteLevel step).
  bool byte_level() const { return byte_level_; }

  // The words of `text`, in scratch.words, valid until the next call and while `text` lives.
  // A run of bytes that is not UTF-8 is a word of its own, and the text on either side is cut as
  // if it stood alone.
  void split(std::string_view text, Scratch& scratch) const;

 private:
  struct RegexSplit {
    Regex regex;
    SplitBehavior behavior;
    bool invert;
  };
  struct StringSplit {
    std::string pattern;
    SplitBehavior behavior;
    bool invert;
  };
  struct DigitGroupSplit {
    DigitGroups groups;
    SplitBehavior behavior;
    bool invert;
  };
  struct DigitSplit {
    bool individual;
  };
  struct PrefixSpace {};
  using Step = std::variant<RegexSplit, StringSplit, DigitGroupSplit, DigitSplit, PrefixSpace>;

  Status add(const Json& component, const std::string& where, int depth);
  Status add_split(const Json& component, const std::string& where);
  Status add_byte_level(const Json& component, const std::string& where);

  static void apply(const RegexSplit& step, std::string_view piece, Scratch& scratch);
  static void apply(const StringSplit& step, std::string_view piece, Scratch& scratch);
  static void apply(const DigitGroupSplit& step, std::string_view piece, Scratch& scratch);
  static void apply(const DigitSplit& step, std::string_view piece, Scratch& scratch);
  static void apply(const PrefixSpace& step, std::string_view piece, Scratch& scratch);

  std::vector<Step> steps_;
  bool byte_level_ = false;
};

}  // namespace nmc::tok
