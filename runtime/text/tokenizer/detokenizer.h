// Turns a stream of ids into text that can be sent while it grows.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

// Bytes that end in the middle of a character are held until the rest arrives; whatever can never
// become a character is replaced by U+FFFD, so the output is always valid UTF-8 and, for valid
// text, exactly the tokens' bytes. One per sequence; not thread-safe. The tokenizer must outlive
// it.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  // The text that `id` completes; often empty in the middle of a character.
  std::string push(int32_t id);
  // The rest at the end of the sequence: a character that stayed incomplete becomes U+FFFD.
  std::string flush();

 private:
  const Tokenizer* tokenizer_;
  std::string held_;  // at most three bytes between calls
};

}  // namespace nmc
