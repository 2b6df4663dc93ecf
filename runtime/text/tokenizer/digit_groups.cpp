#include "runtime/text/tokenizer/digit_groups.h"

#include <vector>

#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

// The length of the character at text[at] if it is a decimal digit, else 0.
size_t digit_at(std::string_view text, size_t at) {
  if (at == text.size()) return 0;
  auto byte = static_cast<uint8_t>(text[at]);
  if (byte < 0x80) return byte >= '0' && byte <= '9';
  Character c = decode_front(text.substr(at));
  return is_decimal_digit(c.code) ? c.bytes : 0;
}

}  // namespace

void match_digit_groups(std::string_view text, Splitter& splitter) {
  std::vector<size_t> starts;  // of the digits of one run, for runs with wide digits too
  size_t at = 0;
  while (at < text.size()) {
    size_t n = digit_at(text, at);
    if (n == 0) {
      ++at;
      continue;
    }
    starts.clear();
    for (; n != 0; n = digit_at(text, at)) {
      starts.push_back(at);
      at += n;
    }
    size_t digits = starts.size();
    starts.push_back(at);
    // Inside a run there is no word boundary, so a group must be followed by whole groups up to
    // the run's end, and that end must be a boundary.
    bool boundary = at == text.size() || !is_word(decode_front(text.substr(at)).code);
    if (!boundary) continue;
    size_t begin = 0;
    for (size_t end = digits % 3 ? digits % 3 : 3; begin < digits; begin = end, end += 3)
      splitter.match(starts[begin], starts[end]);
  }
}

}  // namespace nmc::tok
