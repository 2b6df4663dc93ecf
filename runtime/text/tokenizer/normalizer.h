// The "normalizer" of a tokenizer.json: what happens to text before it is split.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/text/tokenizer/literal_ranges.h"

namespace nmc::tok {

// NFC, Replace (of a string), Prepend and Sequences of them; others are refused by name.
// Immutable, thread-safe.
class Normalizer {
 public:
  // `component` is the field's value; null means no normalization.
  static Result<Normalizer> build(const Json& component);

  struct Output {
    std::string text;
    LiteralRanges literal;
  };

  // False if `apply` would surely leave the text as it is: a quick look.
  bool changes(std::string_view text) const;

  // The normalized text. What comes from literal bytes, if only in part, is literal in it; so is
  // text that a step inserts.
  Output apply(std::string_view text, size_t offset, const LiteralRanges& literal) const;

 private:
  struct Nfc {};
  struct Replace {
    std::string from, to;
  };
  struct Prepend {
    std::string text;
  };
  using Step = std::variant<Nfc, Replace, Prepend>;

  Status add(const Json& component, const std::string& where, int depth);

  std::vector<Step> steps_;
  double growth_ = 1;  // by what factor the steps can lengthen a text
};

// The literal string of a pattern {"String": s}; other patterns are an error that names `where`.
Result<std::string> string_pattern(const Json& component, std::string_view where);

}  // namespace nmc::tok
