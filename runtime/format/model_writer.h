// Writes a .nmc model file: any order, any thread, and all or nothing.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/format/header.h"

namespace nmc {

// Usage: create; write every tensor's bytes; set every checksum; finish. Destroyed before `finish`,
// it leaves no file. `write` and `set_checksum` may be called from several threads for different
// ranges and tensors.
class ModelWriter {
 public:
  // `files`: contents to embed, by name. The tensors and their places follow from the model.
  static Result<ModelWriter> create(const std::filesystem::path& path,
                                    const ModelDescription& model, const Json& provenance,
                                    std::map<std::string, std::string> files);

  const std::vector<TensorEntry>& tensors() const { return head_.header.tensors; }
  uint64_t file_bytes() const { return head_.header.file_bytes; }

  // Writes part of tensor `index`, `offset` bytes into it. What is never written reads as zero.
  Status write(size_t index, uint64_t offset, std::span<const uint8_t> bytes);
  // The XXH3-64 of the whole tensor, padding included.
  void set_checksum(size_t index, uint64_t checksum) { checksums_[index] = checksum; }

  // Writes the head, syncs and renames.
  Status finish();

 private:
  ModelWriter(AtomicFile file, EncodedHeader head, std::map<std::string, std::string> files);

  AtomicFile file_;
  EncodedHeader head_;
  std::map<std::string, std::string> files_;
  std::vector<uint64_t> checksums_;
};

}  // namespace nmc
