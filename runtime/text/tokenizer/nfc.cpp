#include "runtime/text/tokenizer/nfc.h"

#include <utf8proc.h>

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

std::string compose(std::string_view valid) {
  utf8proc_uint8_t* result = nullptr;
  auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                        static_cast<utf8proc_ssize_t>(valid.size()), &result,
                        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (n < 0) return std::string(valid);  // only for want of memory: the text is valid UTF-8
  std::string out(reinterpret_cast<char*>(result), static_cast<size_t>(n));
  free(result);
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
