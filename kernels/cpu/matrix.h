// Rows of values, each row padded to whole atoms of 64 columns and aligned to a cache line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "runtime/format/layout.h"

namespace nmc::cpu {

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete (p, std::align_val_t{64}); }
};
template <typename T>
using AlignedArray = std::unique_ptr<T[], AlignedDelete>;

// Not initialised: large arrays take memory only where they are written.
template <typename T>
AlignedArray<T> make_aligned(size_t count) {
  return AlignedArray<T>(static_cast<T*>(
      ::operator new (std::max<size_t>(count, 1) * sizeof(T), std::align_val_t{64})));
}

// [rows, cols], row-major with a stride of 64 * n. Starts as zeros; the padding stays zero, so that
// a product over whole atoms may read it.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols)
      : rows_(static_cast<size_t>(rows)),
        cols_(static_cast<size_t>(cols)),
        stride_(static_cast<size_t>(padded_cols(cols))),
        values_(make_aligned<T>(rows_ * stride_)) {
    std::fill_n(values_.get(), rows_ * stride_, T{});
  }

  T* row(size_t i) { return values_.get() + i * stride_; }
  const T* row(size_t i) const { return values_.get() + i * stride_; }
  size_t cols() const { return cols_; }

  // Overwrites everything but the padding: who reads a value that was not written finds out.
  void poison(T value) {
    for (size_t i = 0; i < rows_; ++i) std::fill_n(row(i), cols_, value);
  }

 private:
  size_t rows_ = 0, cols_ = 0, stride_ = 0;
  AlignedArray<T> values_;
};

}  // namespace nmc::cpu
