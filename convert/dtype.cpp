#include "convert/dtype.h"

namespace nmc {
namespace {

struct Row {
  const char* name;
  uint64_t bytes;
};

// Indexed by Dtype.
constexpr Row kRows[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
    {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
    {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8},
};
static_assert(kRows[static_cast<size_t>(Dtype::kBf16)].name[0] == 'B');
static_assert(sizeof kRows / sizeof kRows[0] == static_cast<size_t>(Dtype::kF64) + 1);

}  // namespace

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; ++i) {
    if (name == kRows[i].name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

const char* dtype_name(Dtype dtype) {
  return kRows[static_cast<size_t>(dtype)].name;
}
uint64_t dtype_bytes(Dtype dtype) {
  return kRows[static_cast<size_t>(dtype)].bytes;
}

}  // namespace nmc
