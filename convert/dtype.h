// The element types of safetensors files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nmc {

enum class Dtype : uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kU16,
  kI16,
  kF16,
  kBf16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64,
};

// The type that a safetensors header calls `name`, e.g. "BF16".
std::optional<Dtype> dtype_from_name(std::string_view name);
const char* dtype_name(Dtype dtype);
uint64_t dtype_bytes(Dtype dtype);  // of one element

}  // namespace nmc
