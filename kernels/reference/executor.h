// The reference executor: what cohere2_moe computes, written to be read and trusted, not fast.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "kernels/reference/operations.h"
#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc::reference {

// Called after each operation with its result, [tokens of the batch, width]. The names, in order:
// once per pass "embedding"; per layer "norm", "q", "k", "v" (rotated where the layer rotates),
// "attention", "o", then in sparse layers "router_logits", "experts" (chosen indices, [tokens, k]),
// "expert_weights" ([tokens, k]), then "mlp", "residual" (the stream after the layer); at the end
// "final_norm" and "logits", with the rows that the batch wants. `layer` is -1 outside layers.
using Tap = std::function<void(std::string_view operation, int64_t layer, const Rows& values)>;

struct ReferenceOptions {
  Operations operations;
  Tap tap;  // may be empty
};

// All values are double; weights are BF16 as stored, keys and values float32. The bits of a token's
// logits depend on its sequence alone: not on the batch, nor on how the prompt is cut into calls.
std::unique_ptr<Executor> create_reference_executor(std::shared_ptr<const ModelFile> file,
                                                    KvCapacity capacity,
                                                    ReferenceOptions options = {});

}  // namespace nmc::reference
