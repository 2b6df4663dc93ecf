#include "kernels/cuda/prefill/attention.h"

#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/attention_span.cuh"
#include "kernels/cuda/ptx/dependent_launch.cuh"

namespace nmc::cuda {
namespace {

// What a kernel needs of AttentionArgs.
struct Work {
  const BatchStep* steps;
  const AttentionTile* tiles;
  const int32_t* pages;
  KvLayer kv;
  bool global;
  int64_t window;
  const Bf16* query;
  int32_t heads, group, head_dim, spans;
  float scale;  // of scores, times log2 e
  Bf16* output;
  int64_t output_cols;  // padded
  float* partial;
};

__device__ __forceinline__ void store_output(const Work& w, int64_t row, int head, int dim, float a,
                                             float b) {
  if (dim >= w.head_dim) return;
  const int64_t col = int64_t(head) * w.head_dim + dim;
  Bf16* group = w.output + row / kAtomRows * kAtomRows * w.output_cols;
  *reinterpret_cast<uint32_t*>(group + index_in_group(row, col)) = ptx::pack_bf16(a, b);
}

template <int kAtoms>
__device__ __forceinline__ void store_total(const Work& w, const BatchStep& step,
                                            const QueryRows& rows, const SpanSums<kAtoms>& total) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (!rows.valid[half]) continue;
#pragma unroll
    for (int j = 0; j < kAtoms * 8; ++j) {
      store_output(w, step.first_row + rows.row[half], rows.head[half], j * 8 + column,
                   total.sums[j][half * 2] / total.weight[half],
                   total.sums[j][half * 2 + 1] / total.weight[half]);
    }
  }
}

// What a row sees of span `number`, if it sees any of it.
template <int kAtoms>
__device__ __forceinline__ void store_partial(const Work& w, const BatchStep& step,
                                              const QueryRows& rows, const SpanSums<kAtoms>& span,
                                              int64_t number) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t first = span_of(first_key(rows.position[half], w.window)), at = number - first;
    if (!rows.valid[half] || at < 0 || at > span_of(rows.position[half]) - first) continue;
    const int64_t row = step.split_row + rows.row[half];
    float* out =
        w.partial + ((row * w.heads + rows.head[half]) * w.spans + at) * (w.kv.padded_dim + 2);
#pragma unroll
    for (int j = 0; j < kAtoms * 8; ++j) {
      *reinterpret_cast<float2*>(out + j * 8 + column) =
          make_float2(span.sums[j][half * 2], span.sums[j][half * 2 + 1]);
    }
    if (column == 0) {
      out[w.kv.padded_dim] = span.largest[half];
      out[w.kv.padded_dim + 1] = span.weight[half];
    }
  }
}

// A warpgroup's queries into shared memory, in tile order.
template <typename Shape>
__device__ __forceinline__ void bring_queries(const Work& w, const BatchStep& step, int first,
                                              int entries, uint32_t target) {
  constexpr int kChunks = Shape::kGroupBytes / 128;  // of 16 bytes, in a row
  for (int i = threadIdx.x % 128; i < 64 * kChunks; i += 128) {
    const int row = i / kChunks, chunk = i % kChunks, entry = min(first + row, entries - 1);
    const int64_t head = blockIdx.y * w.group + entry % w.group;
    const Bf16* from =
        w.query + (int64_t(step.first_row + entry / w.group) * w.heads + head) * w.kv.padded_dim;
    const uint4 v = reinterpret_cast<const uint4*>(from)[chunk];
    const uint32_t at = target + row / 8 * Shape::kGroupBytes + chunk / 8 * uint32_t(kAtomBytes) +
                        row % 8 * 128 + (chunk % 8 ^ row % 8) * 16;
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
  }
  ptx::fence_async_copies();
}

// Pages [first, first + count) that a tile's rows see; of the CTA's span alone when keys are split.
struct PageRange {
  int64_t first;
  int count;
};
template <bool kSplit>
__device__ __forceinline__ PageRange pages_of(const Work& w, int64_t lowest, int64_t highest) {
  int64_t first = first_key(lowest, w.window) / kPageTokens, last = highest / kPageTokens;
  if (kSplit) {
    const int64_t span = span_of(first_key(lowest, w.window)) + blockIdx.z;
    first = max(first, span * kSpanPages);
    last = min(last, span * kSpanPages + kSpanPages - 1);
  }
  return {first, int(last - first) + 1};
}

// Whether some row of this warp does not see the whole page that begins at `first`.
__device__ __forceinline__ bool masked(const QueryRows& rows, int64_t first, int64_t window) {
  const int64_t lowest = rows.position[0], highest = rows.position[1];  // of this lane
  return __any_sync(0xffffffff,
                    first + kPageTokens - 1 > lowest || (window > 0 && first <= highest - window));
}

// Two warpgroups start their products in turns, so that one computes weights meanwhile.
template <bool kTurns>
struct Turns {
  static constexpr uint32_t kFirst = 3;  // barriers of this number and the next
  uint32_t own = 0;

  __device__ explicit Turns(int warpgroup) : own(uint32_t(warpgroup)) {
    if (kTurns && own == 1) ptx::named_barrier_arrive(kFirst, 256);
  }
  __device__ void begin() const {
    if (kTurns) ptx::named_barrier(kFirst + own, 256);
  }
  // `more`: whether this warpgroup begins again.
  __device__ void end(bool more) const {
    if (kTurns && (more || own == 0)) ptx::named_barrier_arrive(kFirst + 1 - own, 256);
  }
};

// grid: [tiles, KV heads, kSplit ? most spans of a tile : 1].
template <int kAtoms, int kGroups, bool kSplit>
__global__ void __launch_bounds__(kGroups * 128 + 128, 1) attend(const __grid_constant__ Work w) {
  using Shape = AttentionShape<kAtoms, kGroups>;
  extern __shared__ unsigned char unaligned[];
  __shared__ PageRing<Shape> ring;
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const AttentionTile tile = w.tiles[blockIdx.x];
  const BatchStep step = w.steps[tile.step];
  const int entries = step.rows * w.group;
  const int last_entry = min(tile.first + Shape::kRows, entries) - 1;
  const PageRange pages = pages_of<kSplit>(w, step.position + tile.first / w.group,
                                           step.position + last_entry / w.group);
  if (pages.count <= 0) return;
  const uint32_t base = (ptx::shared_address(unaligned) + kAtomBytes - 1) / kAtomBytes * kAtomBytes;
  const uint32_t stages = base + kGroups * Shape::kQueryBytes;
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const uint32_t query = base + warp / 4 * Shape::kQueryBytes;
  if (threadIdx.x == 0) ring.init();
  if (warp < kGroups * 4) {
    bring_queries<Shape>(w, step, tile.first + warp / 4 * 64, entries, query);
  }
  __syncthreads();
  if (warp >= kGroups * 4) {
    if constexpr (kGroups == 2) ptx::registers_lower<24>();
    if (threadIdx.x != kGroups * 128) return;
    const int32_t* table = w.pages + (w.global ? step.global_pages : step.sliding_pages);
    for (int i = 0; i < pages.count; ++i) {
      ring.load(stages, i, w.kv.keys(table[pages.first + i], blockIdx.y));
    }
    return;
  }
  if constexpr (kGroups == 2) ptx::registers_raise<240>();
  const int lane = threadIdx.x % 32;
  QueryRows rows;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int entry = tile.first + threadIdx.x / 32 * 16 + lane / 4 + half * 8;
    rows.valid[half] = entry < entries;
    const int clamped = min(entry, entries - 1);
    rows.row[half] = clamped / w.group;
    rows.head[half] = blockIdx.y * w.group + clamped % w.group;
    rows.position[half] = step.position + rows.row[half];
  }

  const Turns<kGroups == 2> turns(warp / 4);
  SpanSums<kAtoms> span, total;
  total.clear();
  PageScores page;
  PageWeights weights;
  // A page's keys, multiplied with the queries while the page before is being worked on.
  auto start_scores = [&](int i) {
    const uint32_t keys = ring.wait_full(stages, i);
    const int64_t written = step.position + step.rows - (pages.first + i) * kPageTokens;
    if (written < kPageTokens) clear_values<Shape>(keys, int(written));
    page.start<Shape>(query, keys);
  };
  auto weigh = [&](int i) {
    page.hold();
    const int64_t first = (pages.first + i) * kPageTokens;
    if (masked(rows, first, w.window)) page.mask(rows, first, w.window);
    return span.weigh(w.scale, &page);
  };
  auto start_values = [&](int i) {
    span.template start_values<Shape>(weights, stages + ring.values(i));
  };
  start_scores(0);
  ptx::wgmma_wait<0>();
  for (int i = 0; i < pages.count;) {
    // A span. The scores of its first page are there.
    span.clear();
    weigh(i);
    weights.pack(page);
    const auto rest = int(kSpanPages - 1 - (pages.first + i) % kSpanPages);
    const int last = min(i + rest, pages.count - 1);
    for (; i < last; ++i) {
      span.hold();
      turns.begin();
      start_scores(i + 1);
      start_values(i);
      turns.end(true);
      ptx::wgmma_wait<1>();
      const auto shrink = weigh(i + 1);
      ptx::wgmma_wait<0>();
      span.hold();
      ring.release(i);
      span.apply(shrink);
      weights.pack(page);
    }
    span.hold();
    turns.begin();
    if (i + 1 < pages.count) {
      start_scores(i + 1);
      start_values(i);
      turns.end(true);
      ptx::wgmma_wait<0>();
      span.hold();
    } else {
      start_values(i);
      turns.end(false);
      ptx::wgmma_wait<0>();
      span.hold();
    }
    ring.release(i);
    ++i;
    span.reduce();
    if (!kSplit) total.merge(span);
  }
  if constexpr (kSplit) {
    store_partial<kAtoms>(w, step, rows, span, span_of(pages.first * kPageTokens));
  } else {
    store_total<kAtoms>(w, step, rows, total);
  }
}

// Split rows: grid [split rows, heads]; a thread for two dims.
__global__ void merge_spans(const __grid_constant__ Work w, const int32_t* position,
                            const int32_t* target) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const int64_t p = position[blockIdx.x];
  const int spans = int(span_of(p) - span_of(first_key(p, w.window))) + 1;
  const int64_t stride = w.kv.padded_dim + 2;
  const float* parts = w.partial + (int64_t(blockIdx.x) * w.heads + blockIdx.y) * w.spans * stride;
  const int dim = threadIdx.x * 2;
  float largest = kNothing, weight = 0, a = 0, b = 0;
  for (int i = 0; i < spans; ++i) {
    const float* part = parts + i * stride;
    const MergeFactors f(&largest, &weight, part[w.kv.padded_dim], part[w.kv.padded_dim + 1]);
    a = f.value(a, part[dim]);
    b = f.value(b, part[dim + 1]);
  }
  store_output(w, target[blockIdx.x], blockIdx.y, dim, a / weight, b / weight);
}

template <int kAtoms, int kGroups, bool kSplit>
Status launch_attend(const Work& work, int tiles, int spans, cudaStream_t stream) {
  if (tiles == 0) return {};
  using Shape = AttentionShape<kAtoms, kGroups>;
  const auto kernel = attend<kAtoms, kGroups, kSplit>;
  NMC_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::kSharedBytes),
                "asking for shared memory"));
  const dim3 grid(unsigned(tiles), unsigned(work.kv.kv_heads), unsigned(spans));
  return launch(kernel, "attention", {grid, Shape::kThreads, Shape::kSharedBytes}, stream, work);
}

template <int kAtoms>
Status run(const AttentionArgs& args, Work work, cudaStream_t stream) {
  const BatchView& b = *args.batch;
  work.tiles = b.tiles;
  NMC_TRY((launch_attend<kAtoms, kTileEntries / 64, false>(work, b.tile_count, 1, stream)));
  if (b.split_rows == 0) return {};
  work.tiles = b.split_tiles;
  // The rows of a tile may begin and end in different spans.
  NMC_TRY((launch_attend<kAtoms, kSplitTileEntries / 64, true>(work, b.split_tile_count,
                                                               work.spans + 1, stream)));
  return launch(merge_spans, "merge_spans",
                {dim3(unsigned(b.split_rows), unsigned(work.heads)), kAtoms * 32}, stream, work,
                b.split_position, b.split_target);
}

}  // namespace

Status attention(const AttentionArgs& args, cudaStream_t stream) {
  Work work{};
  work.steps = args.batch->steps;
  work.pages = args.batch->pages;
  work.kv = args.kv;
  work.global = args.pool == KvPool::kGlobal;
  work.window = args.window;
  work.query = args.query;
  work.heads = args.heads;
  work.group = args.heads / args.kv.kv_heads;
  work.head_dim = args.head_dim;
  work.spans = args.batch->spans(args.pool);
  work.scale = 1.4426950408889634f / std::sqrt(static_cast<float>(args.head_dim));
  work.output = args.output;
  work.output_cols = padded_cols(int64_t{args.heads} * args.head_dim);
  work.partial = args.partial;
  switch (args.kv.padded_dim / kAtomCols) {
    case 1:
      return run<1>(args, work, stream);
    case 2:
      return run<2>(args, work, stream);
    case 3:
      return run<3>(args, work, stream);
    case 4:
      return run<4>(args, work, stream);
  }
  return unsupported("the CUDA executor computes heads of at most 256 values, not " +
                     std::to_string(args.head_dim));
}

}  // namespace nmc::cuda
