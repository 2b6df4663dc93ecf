// inspect --tokenize and --detokenize.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/format/model_file.h"

namespace nmc {

struct TokenizeOptions {
  bool special = false;  // markers in the text are recognised
  bool bos = false;      // with the ids that the model's files put around a text
  bool json = false;
};

// "1 2 3", or "[1,2,3]".
std::string ids_text(std::span<const int32_t> ids, bool json);

// One line: the ids of `text`.
Result<std::string> tokenize(const ModelFile& file, const std::string& text,
                             const TokenizeOptions& options);

// The bytes of the ids in `text`: words, or a JSON list.
Result<std::string> detokenize(const ModelFile& file, const std::string& text);

}  // namespace nmc
