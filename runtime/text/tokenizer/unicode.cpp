#include "runtime/text/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

namespace nmc::tok {
namespace {

bool is_ascii(uint32_t code) {
  return code < 0x80;
}

}  // namespace

Character decode_front(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  uint32_t n = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) == 0xe0 ? 3 : lead >= 0xf0 ? 4 : 0;
  if (n == 0 || lead > 0xf4 || text.size() < n) return {kInvalid, 1};
  uint32_t code = lead & (0x7f >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kInvalid, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[n] || code > 0x10ffff || surrogate) return {kInvalid, 1};
  return {code, n};
}

Character decode_back(std::string_view text) {
  for (size_t n = 1; n <= 4 && n <= text.size(); ++n) {
    std::string_view tail = text.substr(text.size() - n);
    if ((static_cast<uint8_t>(tail[0]) & 0xc0) == 0x80) continue;
    Character c = decode_front(tail);
    if (c.bytes == n) return c;
    break;
  }
  return {kInvalid, 1};
}

void append_utf8(std::string& out, uint32_t code) {
  utf8proc_uint8_t buffer[4];
  auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), buffer);
  out.append(reinterpret_cast<char*>(buffer), static_cast<size_t>(n));
}

size_t ascii_prefix(std::string_view text) {
  size_t at = 0;
  for (uint64_t eight; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (eight & 0x8080808080808080) break;
  }
  return at;
}

size_t valid_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    at += ascii_prefix(text.substr(at));
    if (at == text.size()) break;
    Character c = decode_front(text.substr(at));
    if (c.code == kInvalid) return at;
    at += c.bytes;
  }
  return at;
}

size_t invalid_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && decode_front(text.substr(at)).code == kInvalid) ++at;
  return at;
}

bool is_white_space(uint32_t c) {
  if (is_ascii(c)) return c == ' ' || (c >= 0x9 && c <= 0xd);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_number(uint32_t c) {
  if (is_ascii(c)) return c >= '0' && c <= '9';
  if (c == kInvalid) return false;
  auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_word(uint32_t c) {
  if (c == kInvalid) return false;
  if (c == 0x200c || c == 0x200d) return true;
  auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  // utf8proc numbers the categories in order: letters, marks, Nd, Nl.
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC;
}

}  // namespace nmc::tok
