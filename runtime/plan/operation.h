// What a task of the plan does. The order of the list is the order of a layer.
#pragma once

#include <cstdint>

namespace nmc::plan {

enum class Operation : uint32_t {
  kEmbed,       // own rows of the residual := embedding of the step's tokens
  kNorm,        // gather x, normalise it: every worker for itself
  kRouter,      // rows of the router (maybe a K slice) times x
  kQkv,         // rows of q, k, v times x, RoPE; new k, v go into the pages
  kAttention,   // shares of a KV head's tokens: partial sums of softmax(q k) v
  kRoute,       // top-k of all logits: every worker for itself
  kSharedUp,    // rows of the shared expert's gate and up
  kUp,          // rows of a dense layer's gate and up
  kExpertUp,    // for each distinct expert of the step, this worker's rows of gate and up
  kMerge,       // partial sums of a KV head's heads → attention output, a range of its dims
  kOutput,      // own rows of o, summed over the full K
  kDown,        // own rows of a dense layer's down
  kExpertDown,  // own rows of each distinct expert's down, scaled, in ascending order of expert
  kSharedDown,  // own rows of the shared expert's down
  kPublish,     // own rows: residual += attention + MLP; x for everybody
  kHead,        // rows of the LM head
  kAgree,       // every logit (or every worker's best) is known: the next tokens are
};
inline constexpr uint32_t kOperations = static_cast<uint32_t>(Operation::kAgree) + 1;

// Which of a worker's agents runs an operation when it has several (warp roles on a GPU). Compute
// consumes the weight stream; service polls, publishes and does everything that has no weights.
enum class Role : uint32_t { kCompute, kService };

constexpr bool streams_weights(Operation op) {
  switch (op) {
    case Operation::kRouter:
    case Operation::kQkv:
    case Operation::kAttention:  // pages of keys and values
    case Operation::kSharedUp:
    case Operation::kUp:
    case Operation::kExpertUp:
    case Operation::kOutput:
    case Operation::kDown:
    case Operation::kExpertDown:
    case Operation::kSharedDown:
    case Operation::kHead:
      return true;
    default:
      return false;
  }
}

constexpr Role role_of(Operation op) {
  return streams_weights(op) ? Role::kCompute : Role::kService;
}

// Whether the addresses of its weights are known only after kRoute of the same layer.
constexpr bool is_routed(Operation op) {
  return op == Operation::kExpertUp || op == Operation::kExpertDown;
}

// "router", "expert_up", ...
const char* to_string(Operation op);

}  // namespace nmc::plan
