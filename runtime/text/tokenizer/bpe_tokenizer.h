// A tokenizer.json with a BPE model, behind the Tokenizer interface.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/text/tokenizer/tokenizer.h"
#include "runtime/text/tokenizer/tokenizer_config.h"

namespace nmc::tok {

Result<std::unique_ptr<Tokenizer>> load_bpe_tokenizer(std::string_view tokenizer_json,
                                                      const TokenizerConfig& config);

}  // namespace nmc::tok
