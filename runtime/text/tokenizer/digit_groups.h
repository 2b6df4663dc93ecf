// The right-aligned digit groups of Cohere's newer tokenizers: `1234567` splits as 1|234|567.
#pragma once

#include <string_view>

#include "runtime/text/tokenizer/regex.h"
#include "runtime/text/tokenizer/split.h"

namespace nmc::tok {

// The pattern in the file that asks for it. Run by a regular expression engine it takes time
// quadratic in a run of digits, because each group looks ahead to the end of the run; a megabyte
// of digits would take minutes. So this one pattern has code of its own, equal by test.
inline constexpr std::string_view kDigitGroupsPattern = R"(\d{1,3}(?=(?:\d{3})*\b))";

// Immutable, thread-safe.
class DigitGroups {
 public:
  static Result<DigitGroups> build();

  // Reports the matches of the pattern in `text`, which is valid UTF-8, to `splitter`.
  void match(std::string_view text, RegexScratch& scratch, Splitter& splitter) const;

 private:
  explicit DigitGroups(Regex run) : run_(std::move(run)) {}
  Regex run_;
};

}  // namespace nmc::tok
