// The experts of a layer as everybody in a CTA sees them: the union of what the rows have chosen,
// in ascending order, each with the rows that use it. A row's experts are added in that order, so
// the sum does not depend on the other rows.
//
// The rows of h are the pairs of an expert and a row that uses it, in that order ("entries"):
// kActive for each row. Layer 0 has no router; its dense MLP is kDenseParts experts of every row.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/shared.cuh"

namespace nmc::decode {

template <int kBatch>
class Experts {
 public:
  __device__ __forceinline__ Experts(const Params& p, const Shared<kBatch>& s, int layer)
      : routing_(s.routing[layer & 1]), rows_(row_count<kBatch>(p)), dense_(layer == 0) {}

  __device__ __forceinline__ int count() const {
    return dense_ ? kDenseParts : *(const volatile int*)&routing_.count;
  }
  __device__ __forceinline__ int expert(int i) const {
    return dense_ ? i : ((const volatile int*)routing_.expert)[i];
  }
  // Bit r: row r uses it.
  __device__ __forceinline__ int rows(int i) const {
    return dense_ ? (1 << rows_) - 1 : ((const volatile int*)routing_.tokens)[i];
  }
  __device__ __forceinline__ int entry(int i) const {  // of its first row
    return dense_ ? i * rows_ : ((const volatile int*)routing_.entry)[i];
  }
  __device__ __forceinline__ float score(int entry) const {
    return dense_ ? 1.f : ((const volatile float*)routing_.score)[entry];
  }

 private:
  const Routing<kBatch>& routing_;
  int rows_;
  bool dense_;
};

}  // namespace nmc::decode
