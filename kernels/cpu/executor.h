// The CPU executor: the plan on threads, weights read where the file is mapped.
#pragma once

#include <memory>
#include <optional>

#include "kernels/cpu/instructions.h"
#include "kernels/cpu/step_trace.h"
#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc::cpu {

struct CpuOptions {
  size_t threads = 0;                             // workers; 0: one per usable core
  std::optional<Instructions> instructions = {};  // default: the fastest of this processor
  uint32_t block = 32;         // tokens that share one pass over the weights, at most
  StepTrace* trace = nullptr;  // outlives the executor; every step overwrites it. Null: none
  // For tests.
  uint64_t delay_seed = 0;  // random pauses before tasks; 0: none
  bool poison = false;      // NaN in every buffer before each step, and in every fresh page
};

// Operands of products and keys and values are BF16; the residual stream, sums and softmax float32.
// Promise: the bits of a token's logits depend on its sequence and the instruction set alone: not
// on the batch, nor on how the prompt is cut into calls, nor on the number of threads. The file's
// pages must stay readable. An idle executor's threads sleep.
Result<std::unique_ptr<Executor>> create_cpu_executor(std::shared_ptr<const ModelFile> file,
                                                      KvCapacity capacity, CpuOptions options = {});

}  // namespace nmc::cpu
