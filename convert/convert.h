// Checkpoint folder → model file: what the program does, without its command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/progress.h"
#include "runtime/base/status.h"
#include "runtime/model/description.h"

namespace nmc {

struct OutputOptions {
  std::filesystem::path out;
  bool replace = false;  // an existing file may be replaced
  size_t threads = 1;
  Progress::Style progress = Progress::Style::kNone;
};

struct Converted {
  ModelDescription model;
  uint64_t file_bytes = 0;
  double seconds = 0;                 // until the file was synced and had its name
  std::vector<std::string> warnings;  // sentences about what a user may not have meant
};

// Fails before writing when anything is missing, when tokenizer or chat template are broken so that
// no server could use the file, or when the disk is too full; a failed or interrupted
// (kCancelled) conversion leaves no file. The result is the same for any number of threads.
Result<Converted> convert_checkpoint(const std::filesystem::path& folder, bool cast_bf16,
                                     const OutputOptions& options);

// A model of the exact geometry of `config` (a config.json) whose weights come from SyntheticRule.
// Tokenizer and chat template are those of the folder `tokenizer`.
Result<Converted> convert_synthetic(const std::filesystem::path& config,
                                    const std::filesystem::path& tokenizer,
                                    const OutputOptions& options);

}  // namespace nmc
