#include "runtime/text/chat/grammar_vocabulary.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nmc {
namespace {

// The byte 0xff begins the spelling of a marker and is no part of any text, so that the tokens that
// hold it are left out.
std::string spelling_of(const Tokenizer& tokenizer, int32_t id) {
  const std::string_view bytes = tokenizer.token_bytes(id);
  const bool blank = bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (tokenizer.is_special(id) || (tokenizer.is_added(id) && !blank)) return special_spelling(id);
  return bytes.find('\xff') == std::string_view::npos ? std::string(bytes) : "";
}

}  // namespace

std::shared_ptr<const GrammarVocabulary> grammar_vocabulary(const Tokenizer& tokenizer,
                                                            int64_t model_vocab,
                                                            std::span<const int32_t> end_tokens) {
  const auto size = static_cast<int32_t>(std::min<int64_t>(tokenizer.vocab_size(), model_vocab));
  std::vector<std::string> spellings;
  spellings.reserve(static_cast<size_t>(size));
  for (int32_t id = 0; id < size; ++id) spellings.push_back(spelling_of(tokenizer, id));
  std::vector<int32_t> ends;
  for (int32_t id : end_tokens) {
    if (id >= 0 && id < size) ends.push_back(id);
  }
  return std::make_shared<const GrammarVocabulary>(spellings, std::move(ends));
}

}  // namespace nmc
