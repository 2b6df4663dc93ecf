// The byte alphabet of GPT-2: every byte as one printable character, so that a vocabulary of byte
// strings can be written as text. Printable Latin-1 bytes stand for themselves, the other 68 for
// U+0100 upwards in order (the space becomes `Ġ`, the newline `Ċ`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nmc::tok {

// The characters of `bytes`, as they stand in a vocabulary.
std::string to_byte_alphabet(std::string_view bytes);

// The bytes that a vocabulary string stands for; nothing if a character is not in the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view token);

}  // namespace nmc::tok
