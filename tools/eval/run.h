// Runs whole sequences through an executor, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/kv_layout.h"
#include "runtime/cache/page_pool.h"
#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc {

class SequenceRunner {
 public:
  // An executor on `device` with pages for one sequence of up to `tokens` tokens.
  static Result<SequenceRunner> open(const std::string& device,
                                     std::shared_ptr<const ModelFile> file, int64_t tokens);
  // The same on synthetic weights that the device makes.
  static Result<SequenceRunner> open_synthetic(const std::string& device,
                                               const ModelDescription& model, int64_t tokens);

  // Logits [rows, vocab] of the positions from `first` on.
  using Visit = std::function<Status(int64_t first, std::span<const float> logits)>;
  // The logits of the last `last` positions (all, if there are fewer), in order, a chunk at a time.
  // kCancelled when interrupted.
  Status run(std::span<const int32_t> tokens, int64_t last, const Visit& visit);

  // The next `count` tokens, each the one with the largest logit; of equals, the lowest id.
  Result<std::vector<int32_t>> continue_greedily(std::span<const int32_t> tokens, int64_t count);

 private:
  // What depends on the model alone; `executor_` comes later.
  SequenceRunner(const ModelDescription& model, int64_t tokens);

  class Feed;

  std::unique_ptr<Executor> executor_;
  KvLayout layout_;
  int64_t chunk_;  // tokens per call, so that their logits stay small
  KvCapacity capacity_;
};

}  // namespace nmc
