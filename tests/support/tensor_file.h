// Expected values: the tensors of a small safetensors file, by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convert/safetensors.h"
#include "runtime/base/file.h"

namespace nmc::test {

// [shape...] row-major; the last dimension is a row.
template <typename T>
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<T> values;

  int64_t width() const { return shape.back(); }
  int64_t rows() const { return static_cast<int64_t>(values.size()) / width(); }
  std::span<const T> row(int64_t i) const {
    return std::span(values).subspan(static_cast<size_t>(i * width()),
                                     static_cast<size_t>(width()));
  }
};

// A test cannot go on without its expected values: everything here throws std::runtime_error.
class TensorFile {
 public:
  explicit TensorFile(const std::filesystem::path& path);

  bool has(const std::string& name) const { return find(name) != nullptr; }
  Tensor<float> f32(const std::string& name) const { return read<float>(name, Dtype::kF32); }
  Tensor<int32_t> i32(const std::string& name) const { return read<int32_t>(name, Dtype::kI32); }

 private:
  const SafetensorsTensor* find(const std::string& name) const;
  template <typename T>
  Tensor<T> read(const std::string& name, Dtype dtype) const;

  MappedFile file_;
  std::vector<SafetensorsTensor> tensors_;
};

}  // namespace nmc::test
