// The first 4 KiB of a .nmc file (docs/format.md §2).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/status.h"

namespace nmc {

inline constexpr uint32_t kDtypeBf16 = 1;

struct Preamble {
  uint64_t file_bytes = 0;
  uint64_t json_offset = 0, json_bytes = 0, json_checksum = 0;
  uint64_t directory_offset = 0, tensor_count = 0, directory_checksum = 0;
  uint64_t files_offset = 0, files_bytes = 0;
  uint64_t data_offset = 0;
};

// Writes the preamble with its own checksum to `out`, kPreambleBytes long.
void encode_preamble(const Preamble& preamble, uint8_t* out);

// Reads it and checks magic, version, its checksum, that reserved bytes are zero, and that the
// regions follow one another inside a file of `bytes.size()` bytes.
Result<Preamble> decode_preamble(std::span<const uint8_t> bytes, const std::string& what);

}  // namespace nmc
