#include "kernels/cuda/decode/step_decoder.h"

#include <algorithm>
#include <cassert>

#include "runtime/engine/token_noise.h"

namespace nmc::cuda {
namespace {

// Entries of one page table.
constexpr size_t kTableEntries = kMaxDecodeTokens / kPageTokens;

}  // namespace

Result<StepDecoder> StepDecoder::create(const DeviceWeights& weights, const KvPools& pools,
                                        cudaStream_t stream) {
  // The kernel keeps page numbers in 16 bits.
  if (std::max(pools.capacity().global_pages, pools.capacity().sliding_pages) > 65535) {
    return unsupported("The decode kernel takes pools of 65,535 pages at most.");
  }
  NMC_ASSIGN(Decoder decoder, Decoder::create(weights, pools));
  StepDecoder steps(std::move(decoder), stream);
  steps.vocab_ = static_cast<size_t>(weights.model().vocab);
  const size_t tables = 2 * kMaxDecodeRows * kTableEntries * sizeof(int32_t);
  const size_t logits = kMaxDecodeRows * steps.vocab_ * sizeof(float);
  NMC_ASSIGN(steps.tables_, allocate_device(tables, "page tables"));
  NMC_ASSIGN(steps.host_tables_, allocate_pinned(tables, "page tables"));
  NMC_ASSIGN(steps.logits_, allocate_device(logits, "logits"));
  NMC_ASSIGN(steps.host_logits_, allocate_pinned(logits, "logits"));
  NMC_ASSIGN(steps.host_tokens_,
             allocate_pinned(kMaxDecodeRows * kMaxDecodeSteps * sizeof(int32_t), "tokens"));
  return steps;
}

bool StepDecoder::takes(const SequenceStep& step) {
  return step.tokens.size() == 1 && step.first < kMaxDecodeTokens;
}

Status StepDecoder::run(std::span<const SequenceStep* const> steps,
                        std::span<float* const> logits) {
  std::vector<DecodeStep> batch;
  for (const SequenceStep* step : steps) {
    assert(takes(*step));
    batch.push_back({.token = step->tokens[0],
                     .position = step->first,
                     .global_pages = step->global_pages,
                     .sliding_pages = step->sliding_pages});
  }
  std::vector<int32_t> tokens(batch.size());
  for (size_t first = 0; first < batch.size(); first += kMaxDecodeRows) {
    const size_t count = std::min<size_t>(kMaxDecodeRows, batch.size() - first);
    std::vector<const float*> rows(count);
    for (size_t i = 0; i < count; ++i) rows[i] = logits[first + i] ? row_of(i) : nullptr;
    NMC_TRY(run_group(std::span(batch).subspan(first, count), 1, 0, rows, &tokens[first], 0));
    for (size_t i = 0; i < count; ++i) {
      if (rows[i] != nullptr) std::copy_n(rows[i], vocab_, logits[first + i]);
    }
  }
  return {};
}

Status StepDecoder::decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary,
                           Decoded* out) {
  assert(steps >= 1 && steps <= kMaxDecodeSteps);
  const size_t sequences = batch.size();
  out->tokens.resize(static_cast<size_t>(steps) * sequences);
  out->logits.clear();
  kept_.clear();
  for (size_t first = 0; first < sequences; first += kMaxDecodeRows) {
    const size_t count = std::min<size_t>(kMaxDecodeRows, sequences - first);
    std::vector<const float*> rows(count);
    for (size_t i = 0; i < count; ++i) rows[i] = batch[first + i].draw ? nullptr : row_of(i);
    NMC_TRY(run_group(batch.subspan(first, count), steps, vocabulary, rows,
                      out->tokens.data() + first, sequences));
    for (const float* row : rows) {
      if (row == nullptr) continue;
      // The next group needs the memory.
      if (sequences > kMaxDecodeRows) row = kept_.emplace_back(row, row + vocab_).data();
      out->logits.emplace_back(row, vocab_);
    }
  }
  return {};
}

std::vector<DecodeRow> StepDecoder::place_tables(std::span<const DecodeStep> group, int64_t steps,
                                                 size_t* entries) {
  *entries = 0;
  const auto place = [&](std::span<const int32_t> pages, int64_t last) {
    const auto count = std::min(pages.size(), static_cast<size_t>(last / kPageTokens) + 1);
    std::copy_n(pages.begin(), count, host_tables_.as<int32_t>() + *entries);
    const int32_t* table = tables_.as<int32_t>() + *entries;
    *entries += count;
    return table;
  };
  std::vector<DecodeRow> rows;
  for (const DecodeStep& step : group) {
    const int64_t last = step.position + steps - 1;
    DecodeRow row{.token = step.token, .position = step.position};
    row.global_pages = place(step.global_pages, last);
    row.sliding_pages = place(step.sliding_pages, last);
    if (step.draw && step.draw->temperature != 0) {
      row.sampling = {.scale = score_scale(step.draw->temperature),
                      .top_p = static_cast<float>(step.draw->top_p),
                      .seed = step.draw->seed,
                      .draw = step.draw->draw};
    }
    rows.push_back(row);
  }
  return rows;
}

Status StepDecoder::run_group(std::span<const DecodeStep> group, int64_t steps, int64_t vocabulary,
                              std::span<const float* const> rows_wanted, int32_t* tokens,
                              size_t stride) {
  const auto copy = [&](void* to, const void* from, size_t bytes, const char* what) {
    return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), what);
  };
  size_t entries = 0;
  const std::vector<DecodeRow> rows = place_tables(group, steps, &entries);
  NMC_TRY(copy(tables_.as<void>(), host_tables_.as<void>(), entries * sizeof(int32_t),
               "copying page tables"));
  const auto wanted = [](const float* row) { return row != nullptr; };
  const bool any = std::ranges::any_of(rows_wanted, wanted);
  assert(steps == 1 || !any);
  NMC_TRY(decoder_.start({.rows = rows,
                          .steps = static_cast<int>(steps),
                          .logits = any ? logits_.as<float>() : nullptr,
                          .vocabulary = vocabulary},
                         stream_));
  for (size_t i = 0; i < group.size(); ++i) {
    if (!wanted(rows_wanted[i])) continue;
    NMC_TRY(copy(host_logits_.as<float>() + i * vocab_, logits_.as<float>() + i * vocab_,
                 vocab_ * sizeof(float), "copying logits"));
  }
  NMC_TRY(copy(host_tokens_.as<void>(), decoder_.tokens(),
               static_cast<size_t>(steps) * group.size() * sizeof(int32_t), "copying tokens"));
  NMC_TRY(decoder_.wait(stream_));
  for (size_t i = 0; i < group.size(); ++i) {
    for (size_t step = 0; step < static_cast<size_t>(steps); ++step) {
      const int32_t token = host_tokens_.as<int32_t>()[step * group.size() + i];
      tokens[step * stride + i] = token;
      if (token >= 0) continue;
      return internal_error("the logits at position " +
                            std::to_string(group[i].position + static_cast<int64_t>(step)) +
                            " are not finite: the weights overflow, or a value was read that was "
                            "never written");
    }
  }
  return {};
}

}  // namespace nmc::cuda
