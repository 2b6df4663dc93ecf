#include "kernels/cuda/prefill/batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "runtime/format/layout.h"

namespace nmc::cuda {
namespace {

// Steps of more tokens than this are prompts: their rows alone keep every SM busy.
constexpr size_t kMostSplitTokens = 4;

int64_t spans_of(int64_t position, int64_t window) {
  return span_of(position) - span_of(first_key(position, window)) + 1;
}

}  // namespace

struct Batch::Lists {
  std::vector<int32_t> token, position, global_page, sliding_page, wanted_row, pages;
  std::vector<int32_t> split_position, split_target;
  std::vector<BatchStep> steps;
  std::vector<AttentionTile> tiles, split_tiles;
};

Batch::Batch(const ModelDescription& model, int64_t partial_floats)
    : layout_(make_kv_layout(model)),
      heads_(model.heads),
      group_(model.group()),
      // A sum is a row of padded dims and two numbers.
      most_partials_(partial_floats / (padded_cols(model.head_dim) + 2)) {}

// Whether the keys of a step's rows are split over CTAs: few rows, and room for their sums.
bool Batch::splits(const SequenceStep& step, int64_t split_rows) const {
  if (step.tokens.size() > kMostSplitTokens) return false;
  const int64_t last = step.first + static_cast<int64_t>(step.tokens.size()) - 1;
  const int64_t spans =
      std::max<int64_t>({spans_of(last, 0), view_.global_spans, view_.sliding_spans});
  return (split_rows + static_cast<int64_t>(step.tokens.size())) * heads_ * spans <= most_partials_;
}

Status Batch::assign(std::span<const SequenceStep> steps, cudaStream_t stream) {
  Lists lists;
  view_ = {};
  for (const SequenceStep& step : steps) {
    assert(!step.tokens.empty());
    BatchStep b;
    b.first_row = static_cast<int32_t>(lists.token.size());
    b.rows = static_cast<int32_t>(step.tokens.size());
    b.position = static_cast<int32_t>(step.first);
    b.global_pages = static_cast<int32_t>(lists.pages.size());
    lists.pages.insert(lists.pages.end(), step.global_pages.begin(), step.global_pages.end());
    b.sliding_pages = static_cast<int32_t>(lists.pages.size());
    lists.pages.insert(lists.pages.end(), step.sliding_pages.begin(), step.sliding_pages.end());
    const bool split = splits(step, static_cast<int64_t>(lists.split_target.size()));
    if (split) b.split_row = static_cast<int32_t>(lists.split_target.size());
    auto page = [](std::span<const int32_t> table, int64_t position) {
      const auto entry = static_cast<size_t>(position / kPageTokens);
      return entry < table.size() ? table[entry] : kNoPage;
    };
    for (size_t i = 0; i < step.tokens.size(); ++i) {
      const int64_t position = step.first + static_cast<int64_t>(i);
      const auto row = static_cast<int32_t>(lists.token.size());
      const bool last = i + 1 == step.tokens.size();
      if (step.logits == LogitsWanted::kAll || (step.logits == LogitsWanted::kLast && last)) {
        lists.wanted_row.push_back(row);
      }
      if (split) {
        lists.split_position.push_back(static_cast<int32_t>(position));
        lists.split_target.push_back(row);
        auto grow = [](int32_t* most, int64_t spans) {
          *most = std::max(*most, static_cast<int32_t>(spans));
        };
        grow(&view_.global_spans, spans_of(position, 0));
        grow(&view_.sliding_spans, spans_of(position, layout_.window));
      }
      lists.token.push_back(step.tokens[i]);
      lists.position.push_back(static_cast<int32_t>(position));
      lists.global_page.push_back(page(step.global_pages, position));
      lists.sliding_page.push_back(page(step.sliding_pages, position));
    }
    const int32_t entries = b.rows * static_cast<int32_t>(group_);
    for (int32_t at = 0; at < entries; at += split ? kSplitTileEntries : kTileEntries) {
      (split ? lists.split_tiles : lists.tiles)
          .push_back({static_cast<int32_t>(lists.steps.size()), at});
    }
    lists.steps.push_back(b);
  }
  // Tiles at the end of a prompt see the most keys: first, so that none of them runs alone at the
  // end.
  std::ranges::reverse(lists.tiles);
  return copy(lists, stream);
}

Status Batch::copy(const Lists& lists, cudaStream_t stream) {
  constexpr size_t kAlignment = 16;
  size_t bytes = 0;
  auto place = [&](auto** target, const auto& list) {
    *target = reinterpret_cast<std::remove_pointer_t<decltype(target)>>(bytes);
    bytes += (list.size() * sizeof(list[0]) + kAlignment - 1) / kAlignment * kAlignment;
  };
  auto each = [&](const auto& visit) {
    visit(&view_.token, lists.token);
    visit(&view_.position, lists.position);
    visit(&view_.global_page, lists.global_page);
    visit(&view_.sliding_page, lists.sliding_page);
    visit(&view_.wanted_row, lists.wanted_row);
    visit(&view_.pages, lists.pages);
    visit(&view_.split_position, lists.split_position);
    visit(&view_.split_target, lists.split_target);
    visit(&view_.steps, lists.steps);
    visit(&view_.tiles, lists.tiles);
    visit(&view_.split_tiles, lists.split_tiles);
  };
  each(place);  // as offsets
  if (memory_.bytes() < bytes) {
    const size_t room = 2 * bytes;
    NMC_ASSIGN(staging_, allocate_pinned(room, "the rows of a step"));
    NMC_ASSIGN(memory_, allocate_device(room, "the rows of a step"));
  }
  each([&](auto** target, const auto& list) {
    const auto offset = reinterpret_cast<uintptr_t>(*target);
    if (!list.empty()) {
      std::memcpy(staging_.as<uint8_t>() + offset, list.data(), list.size() * sizeof(list[0]));
    }
    *target =
        reinterpret_cast<std::remove_pointer_t<decltype(target)>>(memory_.as<uint8_t>() + offset);
  });
  view_.rows = static_cast<int32_t>(lists.token.size());
  view_.wanted = static_cast<int32_t>(lists.wanted_row.size());
  view_.tile_count = static_cast<int32_t>(lists.tiles.size());
  view_.split_tile_count = static_cast<int32_t>(lists.split_tiles.size());
  view_.split_rows = static_cast<int32_t>(lists.split_target.size());
  return check(cudaMemcpyAsync(memory_.as<void>(), staging_.as<void>(), bytes,
                               cudaMemcpyHostToDevice, stream),
               "copying the rows of a step");
}

}  // namespace nmc::cuda
