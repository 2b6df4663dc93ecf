// The little Unicode the tokenizer needs: decoding, and the character classes of its file formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmc::tok {

constexpr uint32_t kInvalid = 0xffffffff;

struct Character {
  uint32_t code;   // kInvalid for a byte that is not part of valid UTF-8
  uint32_t bytes;  // 1 to 4; 1 when invalid
};

// The character at the front of `text`, which is not empty. RFC 3629 rules.
Character decode_front(std::string_view text);
// The character at the back of `text`, which is not empty.
Character decode_back(std::string_view text);

void append_utf8(std::string& out, uint32_t code);

// The length of the longest prefix that is ASCII, or a little less.
size_t ascii_prefix(std::string_view text);
// The length of the longest prefix that is valid UTF-8.
size_t valid_prefix(std::string_view text);
// The length of the longest prefix without any valid character.
size_t invalid_prefix(std::string_view text);

// Unicode's White_Space property: 25 characters, U+180E not among them.
bool is_white_space(uint32_t code);
// General categories Nd, Nl and No.
bool is_number(uint32_t code);
// What \w stands for beside added tokens: letters, marks, digits, connectors and joiners.
bool is_word(uint32_t code);

}  // namespace nmc::tok
