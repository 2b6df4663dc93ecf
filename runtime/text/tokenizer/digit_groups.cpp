#include "runtime/text/tokenizer/digit_groups.h"

#include <vector>

#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {

Result<DigitGroups> DigitGroups::build() {
  // Inside a run of digits there is no word boundary. So a group must be followed by whole groups
  // up to the end of the run, and that end must be a boundary.
  NMC_ASSIGN(Regex run, Regex::compile(R"((?<!\d)\d++(?!\w))", "digit groups"));
  return DigitGroups(std::move(run));
}

void DigitGroups::match(std::string_view text, RegexScratch& scratch, Splitter& splitter) const {
  constexpr size_t kGroup = 3;
  std::vector<size_t> starts;  // of the digits of one run, which may take several bytes each
  for (size_t from = 0;;) {
    Regex::Match run = run_.find(text, from, scratch);
    if (run.outcome != Regex::Outcome::kMatch) return;
    starts.clear();
    for (size_t at = run.begin; at < run.end; at += decode_front(text.substr(at)).bytes)
      starts.push_back(at);
    size_t digits = starts.size();
    starts.push_back(run.end);
    size_t begin = 0;
    for (size_t end = (digits - 1) % kGroup + 1; begin < digits; begin = end, end += kGroup)
      splitter.match(starts[begin], starts[end]);
    from = run.end;
  }
}

}  // namespace nmc::tok
