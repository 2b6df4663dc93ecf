// The "decoder" of a tokenizer.json: what bytes a vocabulary string stands for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/json.h"

namespace nmc::tok {

// ByteLevel, ByteFallback, Replace (of a string), Fuse, Strip of leading spaces, and Sequences of
// them; others are refused by name. Immutable, thread-safe.
class Decoder {
 public:
  // `component` is the field's value; null means that strings stand for themselves.
  static Result<Decoder> build(const Json& component);

  // The bytes of one vocabulary string.
  std::string bytes(std::string_view token) const;

  // How many leading spaces a whole decoded text loses.
  size_t strip_leading() const { return strip_leading_; }

 private:
  Status add(const Json& component, const std::string& where, int depth);

  bool byte_level_ = false;
  bool byte_fallback_ = false;
  std::vector<std::pair<std::string, std::string>> replacements_;
  size_t strip_leading_ = 0;
};

}  // namespace nmc::tok
