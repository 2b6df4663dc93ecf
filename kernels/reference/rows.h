// Activations of the reference executor: one row per token, in double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nmc::reference {

// [rows, cols] double, row-major.
class Rows {
 public:
  Rows() = default;
  Rows(int64_t rows, int64_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<size_t>(rows * cols), 0.0) {}

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  std::span<double> row(int64_t i) {
    return std::span(values_).subspan(static_cast<size_t>(i * cols_), static_cast<size_t>(cols_));
  }
  std::span<const double> row(int64_t i) const {
    return std::span(values_).subspan(static_cast<size_t>(i * cols_), static_cast<size_t>(cols_));
  }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }

 private:
  int64_t rows_ = 0, cols_ = 0;
  std::vector<double> values_;
};

}  // namespace nmc::reference
