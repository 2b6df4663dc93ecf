// Queries, keys and values of the new tokens: rotated where the layer rotates, rounded to BF16,
// queries into a buffer, keys and values straight into their pages.
#include "kernels/cuda/prefill/linear_args.h"
#include "kernels/cuda/ptx/pack.cuh"

namespace nmc::cuda {
namespace {

struct StoreQkv {
  static constexpr bool kDirect = true;
  QkvTarget to;

  // What a pair of rows is, for every token.
  struct Place {
    int32_t part, head, dim;  // of the first row
    const float2* turns;      // of the pair's angle: [token rows][head_dim / 2]; null: none
  };
  // Where it goes for one token, and how it turns.
  struct Target {
    Bf16* values;
    float2 turn;
  };

  // Head `head` of a KV group: its query heads, then its keys, then its values.
  __device__ Place place(int kv_head, int head, int dim) const {
    const auto group = int(to.map.group);
    const int part = head < group ? 0 : head - group + 1;
    const bool turns = to.rotation != nullptr && part < 2;
    return {part, part == 0 ? kv_head * group + head : kv_head, dim,
            turns ? to.rotation + dim / 2 : nullptr};
  }

  // The same of a row: RowMap::source in 32 bits, since divisions of 64 take long.
  __device__ Place find(int row) const {
    const int heads = int(to.map.group) + 2, block = int(to.map.block), head_dim = to.head_dim;
    const int in_group = row % (heads * head_dim), in_block = in_group % (heads * block);
    return place(row / (heads * head_dim), in_block / block,
                 in_group / (heads * block) * block + in_block % block);
  }

  // Where the place's first dim goes; the others of its chunk of 8 lie behind it.
  __device__ Bf16* target(const Place& place, int64_t row) const {
    if (place.part == 0) {
      return to.query + (row * to.heads + place.head) * to.kv.padded_dim + place.dim;
    }
    const int64_t page = __ldg(to.page + row);
    Bf16* matrix = place.part == 1 ? to.kv.keys(page, place.head) : to.kv.values(page, place.head);
    return matrix + tiled_index(__ldg(to.position + row) % kPageTokens, place.dim, to.head_dim);
  }

  // Spelled out, so that every shape rounds alike.
  static __device__ void turn(float2 by, float* a, float* b) {
    const float rotated = __fmaf_rn(*a, by.x, -__fmul_rn(*b, by.y));
    *b = __fmaf_rn(*b, by.x, __fmul_rn(*a, by.y));
    *a = rotated;
  }

  __device__ Target load(const Place& place, int64_t row) const {
    Target loaded{target(place, row), {}};
    if (place.turns != nullptr) loaded.turn = __ldg(place.turns + row * (to.head_dim / 2));
    return loaded;
  }

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_pair<kTokens>(
        sums, row, rows, tile.count, [&](int even_row) { return find(even_row); },
        [&](const Place& place, int token) { return load(place, tile.first + token); },
        [](const Place& place, int, float a, float b, const Target& target) {
          if (place.turns != nullptr) turn(target.turn, &a, &b);
          *reinterpret_cast<uint32_t*>(target.values) = ptx::pack_bf16(a, b);
        });
  }

  __device__ bool staged(const GemmView& args) const { return args.row_step > 1; }

  // 128 rows of such a tile have of 16 row blocks two heads, 4 dims each: 64 dims of either head. A
  // thread takes 8 of them, of both heads.
  struct Loaded {
    float4 turns[2];  // cosine, sine of 4 pairs
    int32_t page, slot;
  };
  __device__ Loaded prepare(const GemmView& args, int block, int first_token, int count) const {
    Loaded loaded{};
    const int64_t row = first_token + min(token_of_thread(), count - 1);
    const Place place = first_head(args, block);
    if (place.turns != nullptr) {
      const auto* from = reinterpret_cast<const float4*>(place.turns + row * (to.head_dim / 2));
      loaded.turns[0] = __ldg(from);
      loaded.turns[1] = __ldg(from + 1);
    }
    if (place.part > 0) {
      loaded.page = __ldg(to.page + row);
      loaded.slot = __ldg(to.position + row) % int(kPageTokens);
    }
    return loaded;
  }
  __device__ void copy(const Staging& staging, const GemmView& args, int block, int first_token,
                       int count, const Loaded& loaded) const {
    const int token = token_of_thread(), chunk = chunk_of_thread();
    if (token >= count) return;
    const Place first = first_head(args, block);
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const float4 a = *staging.quad(token, chunk * 4 + side);
      const float4 b = *staging.quad(token, chunk * 4 + 2 + side);
      const float v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
      const bool turns = first.turns != nullptr && first.part + side < 2;
      uint32_t packed[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float x = v[2 * i], y = v[2 * i + 1];
        const float4 t = loaded.turns[i / 2];
        if (turns) turn(i % 2 == 0 ? make_float2(t.x, t.y) : make_float2(t.z, t.w), &x, &y);
        packed[i] = ptx::pack_bf16(x, y);
      }
      Bf16* target = nullptr;
      if (first.part == 0) {
        const int64_t head = int64_t(first_token + token) * to.heads + first.head + side;
        target = to.query + head * to.kv.padded_dim + first.dim;
      } else {
        target = (side == 0 ? to.kv.keys(loaded.page, first.head)
                            : to.kv.values(loaded.page, first.head)) +
                 tiled_index(loaded.slot, first.dim, to.head_dim);
      }
      *reinterpret_cast<uint4*>(target) = make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }

  // The first of the two heads, at this thread's dims: both are queries, or keys and values.
  __device__ Place first_head(const GemmView& args, int block) const {
    const int atoms = to.head_dim / int(kAtomCols), part = block / args.row_step;
    return place(part / atoms, block % args.row_step * 2,
                 part % atoms * int(kAtomCols) + chunk_of_thread() * int(kChunkCols));
  }
};

// How far apart the 8-row groups stand that hold the same two heads, if blocks are such that 16 of
// them make 64 dims of both; else 1.
int32_t row_step(const RowMap& map) {
  const bool fits = map.block == 4 && map.group % 2 == 0 && map.head_dim % kAtomCols == 0;
  return fits ? static_cast<int32_t>(map.group + 2) / 2 : 1;
}

}  // namespace

Status qkv(const DeviceTensor& weight, const Tokens& tokens, const QkvTarget& target,
           cudaStream_t stream) {
  GemmArgs args = gemm_args(weight, tokens);
  args.row_step = row_step(target.map);
  return run_gemm(args, StoreQkv{target}, stream);
}

}  // namespace nmc::cuda
