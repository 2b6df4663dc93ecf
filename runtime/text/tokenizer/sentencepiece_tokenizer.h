// A SentencePiece tokenizer.model behind the Tokenizer interface. The library stays in the .cpp:
// its header declares names of absl.
#pragma once

#include <memory>
#include <string>

#include "runtime/text/tokenizer/tokenizer.h"
#include "runtime/text/tokenizer/tokenizer_config.h"

namespace nmc::tok {

// Markers are the model's control and user-defined pieces and the configuration's added tokens;
// where both speak of an id, the configuration counts.
Result<std::unique_ptr<Tokenizer>> load_sentencepiece_tokenizer(std::string model,
                                                                const TokenizerConfig& config);

}  // namespace nmc::tok
