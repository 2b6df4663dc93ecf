#include "runtime/text/tokenizer/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

// Characters that NFC leaves alone and that never compose with what precedes them. Not all of
// them, but nearly all that occur: Latin, Cyrillic letters, CJK, Hangul syllables, most emoji.
bool is_inert(uint32_t c) {
  return c < 0x300 || (c >= 0x400 && c < 0x483) || (c >= 0x2010 && c < 0x20d0) ||
         (c >= 0x3041 && c < 0x3099) || (c >= 0x309b && c < 0x3100) ||
         (c >= 0x4e00 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4) ||
         (c >= 0x1f300 && c < 0x1fb00) || c == kInvalid;
}

int combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

// The form C of valid UTF-8. The library's own function orders marks in quadratic time, which a
// page of marks on one letter turns into minutes; so ordering is done here.
std::string compose(std::string_view valid) {
  constexpr int kMaxDecomposition = 8;  // of one character; Unicode promises at most 4
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  std::vector<utf8proc_int32_t> codes;
  while (!valid.empty()) {
    Character c = decode_front(valid);
    valid.remove_prefix(c.bytes);
    utf8proc_int32_t parts[kMaxDecomposition];
    int boundary = 0;  // of grapheme clusters, which nobody asks for
    auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.code), parts,
                                     kMaxDecomposition, kOptions, &boundary);
    codes.insert(codes.end(), parts, parts + n);
  }
  auto is_starter = [](utf8proc_int32_t c) { return combining_class(c) == 0; };
  for (auto at = codes.begin(); at != codes.end();) {
    auto end = std::find_if(at, codes.end(), is_starter);
    std::stable_sort(at, end,
                     [](auto x, auto y) { return combining_class(x) < combining_class(y); });
    at = std::find_if_not(end, codes.end(), is_starter);
  }
  auto n =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), kOptions);
  std::string out;
  for (auto c = codes.begin(); c != codes.begin() + n; ++c)
    append_utf8(out, static_cast<uint32_t>(*c));
  return out;
}

}  // namespace

bool surely_nfc(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    at += ascii_prefix(text.substr(at));
    if (at == text.size()) break;
    Character c = decode_front(text.substr(at));
    if (!is_inert(c.code)) return false;
    at += c.bytes;
  }
  return true;
}

void normalize_nfc(std::string_view text, const NfcStretch& stretch) {
  size_t done = 0;        // everything before has been reported
  size_t last_begin = 0;  // of the character before `at`
  uint32_t last = kInvalid;
  size_t at = 0;
  while (at < text.size()) {
    Character c = decode_front(text.substr(at));
    if (is_inert(c.code)) {
      last_begin = at;
      last = c.code;
      at += c.bytes;
      continue;
    }
    // A stretch that may change: from the character before, which may be its base, to the next
    // inert one.
    size_t begin = last == kInvalid ? at : last_begin;
    while (at < text.size()) {
      c = decode_front(text.substr(at));
      if (is_inert(c.code)) break;
      at += c.bytes;
    }
    if (begin > done) stretch(text.substr(done, begin - done), text.substr(done, begin - done));
    std::string_view before = text.substr(begin, at - begin);
    stretch(before, compose(before));
    done = at;
    last = kInvalid;
  }
  if (done < text.size()) stretch(text.substr(done), text.substr(done));
}

}  // namespace nmc::tok
