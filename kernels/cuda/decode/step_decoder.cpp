#include "kernels/cuda/decode/step_decoder.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace nmc::cuda {
namespace {

// Entries of one page table.
constexpr size_t kTableEntries = kMaxDecodeTokens / kPageTokens;

// Copies and looks: true when all values are finite. Integers, so that the compiler vectorises.
bool copy_finite(const float* from, size_t count, float* to) {
  std::copy_n(from, count, to);
  uint32_t largest = 0;
  for (size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<uint32_t>(from[i]) & 0x7fffffffu);
  }
  return largest < 0x7f800000u;
}

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
  return steps;
}

bool StepDecoder::takes(const SequenceStep& step) {
  return step.tokens.size() == 1 && step.first < kMaxDecodeTokens;
}

Status StepDecoder::run(std::span<const SequenceStep* const> steps,
                        std::span<float* const> logits) {
  for (size_t first = 0; first < steps.size(); first += kMaxDecodeRows) {
    const size_t count = std::min<size_t>(kMaxDecodeRows, steps.size() - first);
    NMC_TRY(run_group(steps.subspan(first, count), logits.subspan(first, count)));
  }
  return {};
}

Status StepDecoder::run_group(std::span<const SequenceStep* const> steps,
                              std::span<float* const> logits) {
  std::vector<DecodeRow> rows;
  size_t entries = 0;
  const auto place = [&](std::span<const int32_t> pages, int64_t position) {
    const auto count = std::min(pages.size(), static_cast<size_t>(position / kPageTokens) + 1);
    std::copy_n(pages.begin(), count, host_tables_.as<int32_t>() + entries);
    const int32_t* table = tables_.as<int32_t>() + entries;
    entries += count;
    return table;
  };
  for (const SequenceStep* step : steps) {
    assert(takes(*step));
    const int32_t* global = place(step->global_pages, step->first);
    rows.push_back({step->tokens[0], step->first, global, place(step->sliding_pages, step->first)});
  }
  NMC_TRY(check(cudaMemcpyAsync(tables_.as<void>(), host_tables_.as<void>(),
                                entries * sizeof(int32_t), cudaMemcpyHostToDevice, stream_),
                "copying page tables"));
  NMC_TRY(decoder_.start({.rows = rows, .steps = 1, .logits = logits_.as<float>()}, stream_));
  NMC_TRY(
      check(cudaMemcpyAsync(host_logits_.as<void>(), logits_.as<void>(),
                            steps.size() * vocab_ * sizeof(float), cudaMemcpyDeviceToHost, stream_),
            "copying logits"));
  NMC_TRY(decoder_.wait(stream_));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (logits[i] == nullptr) continue;
    if (!copy_finite(host_logits_.as<float>() + i * vocab_, vocab_, logits[i])) {
      return internal_error("the logits at position " + std::to_string(steps[i]->first) +
                            " are not finite: the weights overflow, or a value was read that was "
                            "never written");
    }
  }
  return {};
}

}  // namespace nmc::cuda
