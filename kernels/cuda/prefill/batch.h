// The rows of one pass as the device sees them: which tokens, where they stand, where their pages
// are, and how attention cuts them.
#pragma once

#include <span>
#include <vector>

#include "kernels/cuda/memory.h"
#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"

namespace nmc::cuda {

// Pages of keys that are reduced together before they are merged with those before them.
inline constexpr int32_t kSpanPages = 8;

// Consecutive rows of one sequence.
struct BatchStep {
  int32_t first_row = 0, rows = 0;
  int32_t position = 0;      // of the first row
  int32_t global_pages = 0;  // where its table begins in BatchView::pages
  int32_t sliding_pages = 0;
  int32_t split_row = -1;  // of the first row among those whose keys are split
};

// Query heads of one KV head, packed: entry i of a step is head i % group of its row i / group.
struct AttentionTile {
  int32_t step = 0;
  int32_t first = 0;  // entry
};

// Everything but the counts is device memory.
struct BatchView {
  int32_t rows = 0, wanted = 0;
  const int32_t* token = nullptr;         // [rows]
  const int32_t* position = nullptr;      // [rows]
  const int32_t* global_page = nullptr;   // [rows]: the page that takes the row's key
  const int32_t* sliding_page = nullptr;  // [rows]
  const int32_t* wanted_row = nullptr;    // [wanted]: rows whose logits are wanted, ascending
  const int32_t* pages = nullptr;         // the tables of all steps
  const BatchStep* steps = nullptr;
  const AttentionTile* tiles = nullptr;        // of steps that walk their spans
  const AttentionTile* split_tiles = nullptr;  // of steps that split them
  const int32_t* split_position = nullptr;     // [split rows]
  const int32_t* split_target = nullptr;       // [split rows]: the row
  int32_t tile_count = 0, split_tile_count = 0, split_rows = 0;
  int32_t global_spans = 0, sliding_spans = 0;  // most that one split row has

  constexpr int32_t spans(KvPool pool) const {
    return pool == KvPool::kGlobal ? global_spans : sliding_spans;
  }
};

// The first key that a query at `position` sees.
constexpr int64_t first_key(int64_t position, int64_t window) {
  return window == 0 || position < window ? 0 : position - window + 1;
}
// The span that holds a key.
constexpr int64_t span_of(int64_t position) {
  return position / kPageTokens / kSpanPages;
}

// Entries of a tile: packed heads that share keys.
inline constexpr int32_t kTileEntries = 128;      // of steps that walk
inline constexpr int32_t kSplitTileEntries = 64;  // of steps that split

// Rows of steps on their way to the device. One pass at a time.
class Batch {
 public:
  Batch() = default;
  // `partial_floats`: room for the sums of split rows; steps beyond it walk.
  Batch(const ModelDescription& model, int64_t partial_floats);

  // Takes over the steps and starts the copy on `stream`. The copy before must be done.
  Status assign(std::span<const SequenceStep> steps, cudaStream_t stream);

  const BatchView& view() const { return view_; }

 private:
  struct Lists;
  Status copy(const Lists& lists, cudaStream_t stream);
  bool splits(const SequenceStep& step, int64_t split_rows) const;

  KvLayout layout_;
  int64_t heads_ = 0, group_ = 0;
  int64_t most_partials_ = 0;  // sums of one row, head and span
  PinnedMemory staging_;
  DeviceMemory memory_;
  BatchView view_;
};

}  // namespace nmc::cuda
