// Little-endian loads and stores, and arithmetic that cannot overflow silently.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace nmc {

static_assert(std::endian::native == std::endian::little,
              "the .nmc file is little endian and is read in place");

template <typename T>
T load_le(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
void store_le(void* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

constexpr uint64_t align_up(uint64_t v, uint64_t alignment) {
  return (v + alignment - 1) / alignment * alignment;
}

constexpr uint64_t ceil_div(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

}  // namespace nmc
