// Keys and values of all sequences on the device, in the pages that the engine hands out.
#pragma once

#include <span>
#include "kernels/cuda/kv_layer.h"
#include "kernels/cuda/memory.h"

#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"

namespace nmc::cuda {

// The memory of both pools. Padding columns start as zeros and must stay so.
class KvPools {
 public:
  // kExhausted when the device has no room. `poison`: every value that is no padding starts as a
  // NaN, so that a key that was never written shows.
  static Result<KvPools> create(const ModelDescription& model, KvCapacity capacity,
                                bool poison = false);

  const KvLayout& layout() const { return layout_; }
  KvCapacity capacity() const { return capacity_; }
  KvLayer layer(size_t index) const;  // a layer of the model
  uint64_t bytes() const { return global_.bytes() + sliding_.bytes(); }

  // One page of a pool as bytes, layer by layer; behind everything that was started on `stream`.
  uint64_t page_bytes(KvPool pool) const;
  Status read_page(KvPool pool, int32_t page, std::span<uint8_t> to, cudaStream_t stream) const;
  Status write_page(KvPool pool, int32_t page, std::span<const uint8_t> from, cudaStream_t stream);

 private:
  uint64_t part_bytes() const;  // of one layer's part of a page
  Bf16* part(size_t layer, int32_t page) const;

  KvLayout layout_;
  KvCapacity capacity_;
  int32_t padded_dim_ = 0;
  DeviceMemory global_, sliding_;
};

// Bytes of both pools.
uint64_t kv_pool_bytes(const ModelDescription& model, KvCapacity capacity);

}  // namespace nmc::cuda
