#include "runtime/text/tokenizer/detokenizer.h"

#include "runtime/base/text.h"

namespace nmc {

std::string Detokenizer::push(int32_t id) {
  held_ += tokenizer_->token_bytes(id);
  size_t complete = complete_utf8_prefix(held_);
  std::string text = valid_utf8(std::string_view(held_).substr(0, complete));
  held_.erase(0, complete);
  return text;
}

std::string Detokenizer::flush() {
  std::string text = valid_utf8(held_);
  held_.clear();
  return text;
}

}  // namespace nmc
