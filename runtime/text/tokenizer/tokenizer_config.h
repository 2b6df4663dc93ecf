// The part of tokenizer_config.json that concerns ids.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/tokenizer/added_tokens.h"

namespace nmc::tok {

struct TokenizerConfig {
  std::string bos_token, eos_token;  // empty where the file has none
  std::optional<bool> add_bos, add_eos;
  std::optional<bool> legacy;     // how SentencePiece text behind a marker is read
  std::vector<AddedToken> added;  // "added_tokens_decoder"
};

// An empty text is an empty configuration.
Result<TokenizerConfig> read_tokenizer_config(std::string_view text);

}  // namespace nmc::tok
