// Executor::decode as its description has it: forward and sample_token, step by step. What makes
// executors of tests choose tokens themselves, and what a device's choice is compared with.
#pragma once

#include "runtime/engine/executor.h"
#include "runtime/engine/sampler.h"

namespace nmc::test {

// `logits`: keeps the rows of `out`.
inline Status decode_by_forward(Executor* executor, std::span<const DecodeStep> batch,
                                int64_t steps, int64_t vocabulary, std::vector<float>* logits,
                                Decoded* out) {
  const auto vocab = static_cast<size_t>(executor->model().vocab);
  std::vector<int32_t> next;
  for (const DecodeStep& s : batch) next.push_back(s.token);
  *out = {};
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<SequenceStep> one;
    for (size_t i = 0; i < batch.size(); ++i) {
      one.push_back({.tokens = std::span(&next[i], 1),
                     .first = batch[i].position + step,
                     .global_pages = batch[i].global_pages,
                     .sliding_pages = batch[i].sliding_pages});
    }
    NMC_TRY(executor->forward(one, logits));
    for (size_t i = 0; i < batch.size(); ++i) {
      const std::span<const float> row = std::span(*logits).subspan(i * vocab, vocab);
      if (!batch[i].draw) {
        out->logits.push_back(row);
      } else {
        const DeviceDraw& d = *batch[i].draw;
        next[i] = sample_token(row.first(static_cast<size_t>(vocabulary)),
                               {.temperature = d.temperature, .top_p = d.top_p}, d.seed,
                               d.draw + static_cast<uint64_t>(step));
      }
      out->tokens.push_back(next[i]);
    }
  }
  return {};
}

}  // namespace nmc::test
