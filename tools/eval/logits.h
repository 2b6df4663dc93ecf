// Logits as a safetensors file: float32 tensors logits.0, logits.1, ... [tokens, vocab].
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "runtime/base/file.h"

namespace nmc {

// Written piece by piece; appears whole in `commit`, or not at all.
class LogitsFile {
 public:
  // One tensor per entry of `lengths` (tokens).
  static Result<LogitsFile> create(const std::filesystem::path& path,
                                   std::span<const int64_t> lengths, int64_t vocab);

  // Rows of tensor `sequence` from row `first` on.
  Status write(size_t sequence, int64_t first, std::span<const float> rows);
  Status commit() { return file_.commit(); }

 private:
  LogitsFile(AtomicFile file, std::vector<uint64_t> offsets, int64_t vocab)
      : file_(std::move(file)), offsets_(std::move(offsets)), vocab_(vocab) {}

  AtomicFile file_;
  std::vector<uint64_t> offsets_;  // of each tensor, bytes from the start of the file
  int64_t vocab_;
};

}  // namespace nmc
