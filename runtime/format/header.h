// The bytes before the weights of a .nmc file: preamble, JSON header, tensor directory, embedded
// files. Byte-level description: docs/format.md §2-§3.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/format/tensor.h"
#include "runtime/model/description.h"

namespace nmc {

inline constexpr uint8_t kMagic[8] = {'N', 'M', 'C', 'M', 'O', 'D', 'E', 'L'};
inline constexpr uint32_t kFormatVersion = 1;
inline constexpr uint64_t kPreambleBytes = 4096;
inline constexpr uint64_t kDirectoryEntryBytes = 256;
inline constexpr uint64_t kTensorNameBytes = 128;
inline constexpr uint64_t kHeadAlignment = 64;  // of the directory and of each embedded file
inline constexpr uint64_t kTensorAlignment = 4096;
inline constexpr uint64_t kSectionAlignment = 2 << 20;
inline constexpr uint64_t kMaxJsonBytes = 16 << 20;
inline constexpr uint64_t kMaxTensors = 1 << 20;

// A file carried whole inside the model file: "tokenizer.json", "chat_template.jinja", ...
struct EmbeddedFile {
  uint64_t offset = 0, bytes = 0, checksum = 0;  // checksum: XXH3-64
};

struct Header {
  ModelDescription model;
  Json provenance;  // where the weights came from; free form, shown by `inspect`
  std::map<std::string, EmbeddedFile> files;
  std::vector<TensorEntry> tensors;  // in file order
  uint64_t file_bytes = 0;
};

// A complete file head: everything up to the first section, offsets filled in.
// `files` are the embedded files' contents; the tensors' checksums may still be zero (the writer
// encodes again once it knows them: the size does not change).
struct EncodedHeader {
  std::vector<uint8_t> bytes;
  Header header;  // with every offset set
};
EncodedHeader encode_header(const ModelDescription& model, const Json& provenance,
                            const std::map<std::string, std::string>& files,
                            const std::vector<uint64_t>& tensor_checksums);

// Reads and checks the head of a file of which `bytes` is the whole content (only the head is
// touched): magic, version, checksums, every offset, size, count and overlap, and that the tensors
// are exactly the ones the model needs. `what` names the file in errors.
Result<Header> decode_header(std::span<const uint8_t> bytes, const std::string& what);

}  // namespace nmc
