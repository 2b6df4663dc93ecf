// A .nmc model file, opened read-only. Layout: docs/format.md.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "runtime/base/file.h"
#include "runtime/format/header.h"

namespace nmc {

// Owns the mapping; everything it hands out points into it. Immutable after `open`, so any number
// of threads may read.
class ModelFile {
 public:
  // Maps the file and checks its head (decode_header); no weight is touched, so the time does not
  // depend on the model's size.
  static Result<ModelFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const Header& header() const { return header_; }
  const ModelDescription& model() const { return header_.model; }

  // The tensor of that name, or null when the model has none.
  const TensorEntry* find(std::string_view name) const;
  // A tensor's bytes, padding included.
  std::span<const uint8_t> bytes(const TensorEntry& tensor) const;
  // The same as BF16 values; of `matrix` (expert) only.
  const Bf16* matrix(const TensorEntry& tensor, uint64_t matrix = 0) const;

  // An embedded file, its checksum verified. Absent: kNotFound, naming it.
  Result<std::string> embedded(const std::string& name) const;
  // The same; empty when there is none.
  Result<std::string> embedded_or_empty(const std::string& name) const;
  bool has_embedded(const std::string& name) const { return header_.files.contains(name); }

  // Reads one tensor whole and compares its checksum.
  Status check(const TensorEntry& tensor) const;

 private:
  ModelFile(MappedFile file, Header header) : file_(std::move(file)), header_(std::move(header)) {}

  MappedFile file_;
  Header header_;
};

}  // namespace nmc
