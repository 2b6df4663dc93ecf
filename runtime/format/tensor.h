// The tensors of a .nmc file: which ones a model has, in which order, with which rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/layout.h"
#include "runtime/model/description.h"

namespace nmc {

enum class TensorLayout : uint32_t {
  kVector = 0,  // [cols] BF16 in order
  kTiled = 1,   // [count][rows, cols] in tile order, one matrix after the other
};

// How the rows of a tiled matrix follow from the rows of the checkpoint's matrices, its "parts".
enum class RowOrder : uint32_t {
  kNatural = 0,  // one part, its rows in order
  kGateUp = 1,   // parts gate, up: gate 0, up 0, gate 1, up 1, ...
  kQkv = 2,      // parts q, k, v: see RowMap
};

// A tensor without its place in the file. Values are BF16.
struct TensorSpec {
  std::string name;  // "layers.3.experts.gate_up", see docs/format.md §5
  TensorLayout layout = TensorLayout::kTiled;
  RowOrder order = RowOrder::kNatural;
  uint32_t row_block = 0;  // kQkv: dims of each head in one block; otherwise 0
  uint32_t section = 0;    // layer index; then the head's section; then an untied embedding's
  uint64_t count = 1;      // matrices: experts, otherwise 1
  uint64_t rows = 1;
  uint64_t cols = 0;

  uint64_t padded_rows() const;
  uint64_t padded_cols() const;
  uint64_t matrix_bytes() const;  // one matrix, padding included
  uint64_t bytes() const { return count * matrix_bytes(); }

  bool operator==(const TensorSpec&) const = default;
};

// A tensor in a file.
struct TensorEntry : TensorSpec {
  uint64_t offset = 0;    // bytes from the start of the file, a multiple of 4 KiB
  uint64_t checksum = 0;  // XXH3-64 of the tensor's bytes()
};

// Where a row of a stored matrix comes from.
struct RowSource {
  int part = 0;     // index of the checkpoint matrix: gate/up, q/k/v
  int64_t row = 0;  // row there
};

// The same for every row of a matrix, by numbers alone: what a device can evaluate.
struct RowMap {
  RowOrder order = RowOrder::kNatural;
  // Of kQkv. Rows run over KV groups, then blocks of `block` dims, then the group's q heads, k and
  // v, then the dims of the block: so a run of rows holds whole RoPE pairs of every head of a
  // group.
  int64_t block = 1, group = 1, head_dim = 1;

  constexpr RowSource source(int64_t row) const {
    if (order == RowOrder::kNatural) return {0, row};
    if (order == RowOrder::kGateUp) return {static_cast<int>(row % 2), row / 2};
    const int64_t heads = group + 2, kv_head = row / (heads * head_dim);
    const int64_t in_group = row % (heads * head_dim), in_block = in_group % (heads * block);
    const int64_t head = in_block / block;
    const int64_t dim = in_group / (heads * block) * block + in_block % block;
    if (head < group) return {0, (kv_head * group + head) * head_dim + dim};
    return {head == group ? 1 : 2, kv_head * head_dim + dim};
  }
};
RowMap row_map(const TensorSpec& spec, const ModelDescription& model);

// The source of row `row` (below spec.rows). `model` gives the head geometry that kQkv needs.
RowSource row_source(const TensorSpec& spec, const ModelDescription& model, int64_t row);

// The dims of each head that stand together in a QKV tensor: the smallest even number that divides
// head_dim and makes a block of (group + 2) heads a whole number of 8-row groups; 2 if none does.
uint32_t qkv_row_block(const ModelDescription& model);

// Every tensor of a model in file order, which is the order in which a decode step streams them:
// per layer norm, router, qkv, gate_up, o, down; then final_norm and the head.
std::vector<TensorSpec> expected_tensors(const ModelDescription& model);

}  // namespace nmc
