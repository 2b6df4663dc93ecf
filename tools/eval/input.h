// What eval runs: token sequences from a file of ids or of text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/format/model_file.h"

namespace nmc {

struct EvalSequence {
  std::string label;  // where it came from, as results name it: "line 3"
  std::vector<int32_t> tokens;
};

// One sequence of whitespace-separated ids a line. Every line holds at least one id of the
// vocabulary, and no more than the model's context less `room` tokens. Errors name file and line.
Result<std::vector<EvalSequence>> read_token_lines(const std::filesystem::path& path,
                                                   const ModelDescription& model, int64_t room);

// The whole file as text, tokenized as a raw prompt (as a rule with BOS in front) in which no
// marker is special. Text longer than the context is cut into parts, each with its own BOS.
Result<std::vector<EvalSequence>> read_text(const std::filesystem::path& path,
                                            const ModelFile& file);

}  // namespace nmc
