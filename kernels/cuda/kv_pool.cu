#include "kernels/cuda/kv_pool.h"

namespace nmc::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Bf16 kNan = 0x7fc0;

// [blocks of 64 tokens][padded_dim] in tile order: NaN up to `dim`, zeros behind.
__global__ void poison_pages(Bf16* values, int64_t count, int64_t dim, int64_t padded_dim) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t in_group = i % (kAtomRows * padded_dim), atom = in_group / (kAtomRows * kAtomCols);
  const int64_t in_atom = in_group % (kAtomRows * kAtomCols), row = in_atom / kAtomCols;
  const int64_t chunk = in_atom % kAtomCols / kChunkCols ^ row;
  const int64_t col = atom * kAtomCols + chunk * kChunkCols + i % kChunkCols;
  values[i] = col < dim ? kNan : Bf16{0};
}

struct PoolBytes {
  uint64_t global, sliding;
};

PoolBytes pool_bytes(const KvLayout& layout, KvCapacity capacity) {
  auto bytes = [&](int64_t layers, int64_t pages) {
    return static_cast<uint64_t>(layers * pages * layout.kv_heads * 2 * kPageTokens *
                                 padded_cols(layout.head_dim)) *
           sizeof(Bf16);
  };
  return {bytes(layout.global_layers, capacity.global_pages),
          bytes(layout.sliding_layers, capacity.sliding_pages)};
}

Status poison_pool(const DeviceMemory& pool, int64_t dim) {
  const auto count = static_cast<int64_t>(pool.bytes() / sizeof(Bf16));
  if (count == 0) return {};
  poison_pages<<<unsigned((count + kThreads - 1) / kThreads), kThreads>>>(pool.as<Bf16>(), count,
                                                                          dim, padded_cols(dim));
  return check(cudaGetLastError(), "starting poison_pages");
}

}  // namespace

Result<KvPools> KvPools::create(const ModelDescription& model, KvCapacity capacity, bool poison) {
  KvPools pools;
  pools.layout_ = make_kv_layout(model);
  pools.capacity_ = capacity;
  pools.padded_dim_ = static_cast<int32_t>(padded_cols(model.head_dim));
  const PoolBytes bytes = pool_bytes(pools.layout_, capacity);
  NMC_ASSIGN(pools.global_, allocate_zeros(bytes.global, "keys and values of global layers"));
  NMC_ASSIGN(pools.sliding_, allocate_zeros(bytes.sliding, "keys and values of sliding layers"));
  if (poison) {
    NMC_TRY(poison_pool(pools.global_, model.head_dim));
    NMC_TRY(poison_pool(pools.sliding_, model.head_dim));
  }
  return Result<KvPools>(std::move(pools));
}

KvLayer KvPools::layer(size_t index) const {
  const KvLayout::Layer& layer = layout_.layers[index];
  const bool global = layer.pool == KvPool::kGlobal;
  KvLayer view;
  view.kv_heads = static_cast<int32_t>(layout_.kv_heads);
  view.padded_dim = padded_dim_;
  const int64_t pages = global ? capacity_.global_pages : capacity_.sliding_pages;
  view.base = (global ? global_ : sliding_).as<Bf16>() +
              layer.index * pages * layout_.kv_heads * 2 * view.matrix_values();
  return view;
}

uint64_t KvPools::part_bytes() const {
  return static_cast<uint64_t>(layout_.kv_heads * 2 * kPageTokens * padded_dim_) * sizeof(Bf16);
}

Bf16* KvPools::part(size_t index, int32_t page) const {
  return layer(index).keys(page, 0);
}

uint64_t KvPools::page_bytes(KvPool pool) const {
  return static_cast<uint64_t>(layout_.pool_layers(pool)) * part_bytes();
}

Status KvPools::read_page(KvPool pool, int32_t page, std::span<uint8_t> to,
                          cudaStream_t stream) const {
  uint8_t* next = to.data();
  for (size_t i = 0; i < layout_.layers.size(); ++i) {
    if (layout_.layers[i].pool != pool) continue;
    NMC_TRY(
        check(cudaMemcpyAsync(next, part(i, page), part_bytes(), cudaMemcpyDeviceToHost, stream),
              "copying a page"));
    next += part_bytes();
  }
  return check(cudaStreamSynchronize(stream), "copying a page");
}

Status KvPools::write_page(KvPool pool, int32_t page, std::span<const uint8_t> from,
                           cudaStream_t stream) {
  const uint8_t* next = from.data();
  for (size_t i = 0; i < layout_.layers.size(); ++i) {
    if (layout_.layers[i].pool != pool) continue;
    NMC_TRY(
        check(cudaMemcpyAsync(part(i, page), next, part_bytes(), cudaMemcpyHostToDevice, stream),
              "copying a page"));
    next += part_bytes();
  }
  return check(cudaStreamSynchronize(stream), "copying a page");
}

uint64_t kv_pool_bytes(const ModelDescription& model, KvCapacity capacity) {
  const PoolBytes bytes = pool_bytes(make_kv_layout(model), capacity);
  return bytes.global + bytes.sliding;
}

}  // namespace nmc::cuda
