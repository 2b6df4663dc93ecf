#include "runtime/text/tokenizer/byte_alphabet.h"

#include <array>

#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

constexpr uint32_t kFirstMoved = 0x100;
constexpr uint32_t kMoved = 68;  // bytes that are not printable Latin-1

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}

struct Tables {
  std::array<uint16_t, 256> character;
  std::array<uint8_t, kMoved> moved_byte;
};

constexpr Tables make_tables() {
  Tables t{};
  uint32_t next = 0;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    if (stands_for_itself(byte)) {
      t.character[byte] = static_cast<uint16_t>(byte);
    } else {
      t.character[byte] = static_cast<uint16_t>(kFirstMoved + next);
      t.moved_byte[next++] = static_cast<uint8_t>(byte);
    }
  }
  return t;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (char c : bytes) append_utf8(out, kTables.character[static_cast<uint8_t>(c)]);
  return out;
}

std::optional<std::string> from_byte_alphabet(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  while (!token.empty()) {
    Character c = decode_front(token);
    token.remove_prefix(c.bytes);
    if (c.code < kFirstMoved && stands_for_itself(c.code))
      out += static_cast<char>(c.code);
    else if (c.code >= kFirstMoved && c.code < kFirstMoved + kMoved)
      out += static_cast<char>(kTables.moved_byte[c.code - kFirstMoved]);
    else
      return std::nullopt;
  }
  return out;
}

}  // namespace nmc::tok
