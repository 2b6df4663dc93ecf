// The header of a safetensors file, read without trusting it.
//
// Layout: u64 little-endian length N, N bytes of JSON {"name": {"dtype", "shape", "data_offsets":
// [begin, end]}, ..., "__metadata__": {...}}, then the data, to which the offsets are relative.
// Source: huggingface/safetensors, README and its validation rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convert/dtype.h"
#include "runtime/base/status.h"

namespace nmc {

inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsTensor {
  std::string name;
  Dtype dtype = Dtype::kBf16;
  std::vector<uint64_t> shape;
  uint64_t offset = 0;  // bytes from the start of the file
  uint64_t bytes = 0;
};

// Reads and checks the header of a file of which `file` is the whole content (the data is not
// touched). Guarantees on success: names are unique; every tensor lies inside the file; its bytes
// are shape x size of its type; tensors neither overlap nor leave gaps. Sorted by offset.
// `what` names the file in errors.
Result<std::vector<SafetensorsTensor>> read_safetensors_header(std::span<const uint8_t> file,
                                                               const std::string& what);

// "[128, 2048]"
std::string shape_text(std::span<const uint64_t> shape);

}  // namespace nmc
