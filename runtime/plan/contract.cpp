#include "runtime/plan/contract.h"

namespace nmc::plan {

uint32_t wait_of(const CounterMap& counters, const Task& task) {
  switch (task.op()) {
    case Operation::kNorm:  // that of layer 0 reads the embedding: nothing was exchanged
      return task.layer == 0 ? kNone : counters.x(task.layer);
    case Operation::kAttention:
      return counters.query(task.layer, task.head);
    case Operation::kRoute:
      return counters.logits(task.layer);
    case Operation::kMerge:
      return counters.partial(task.layer, task.head);
    case Operation::kOutput:
      return counters.output(task.layer);
    case Operation::kDown:
    case Operation::kExpertDown:
    case Operation::kSharedDown:
      return counters.hidden(task.layer);
    case Operation::kAgree:
      return counters.head();
    default:
      return kNone;
  }
}

uint32_t signal_of(const CounterMap& counters, const Task& task) {
  switch (task.op()) {
    case Operation::kRouter:
      return counters.logits(task.layer);
    case Operation::kQkv:
      return counters.query(task.layer, task.head);
    case Operation::kAttention:
      return counters.partial(task.layer, task.head);
    case Operation::kMerge:
      return counters.output(task.layer);
    case Operation::kUp:
    case Operation::kExpertUp:
    case Operation::kSharedUp:
      return counters.hidden(task.layer);
    case Operation::kPublish:
      return counters.x(task.layer + 1);
    case Operation::kHead:
      return counters.head();
    default:
      return kNone;
  }
}

std::string tensor_of(const ModelDescription& model, const Task& task) {
  const std::string prefix = "layers." + std::to_string(task.layer) + ".";
  switch (task.op()) {
    case Operation::kNorm:
      return task.layer < model.layers.size() ? prefix + "norm" : "final_norm";
    case Operation::kRouter:
      return prefix + "router";
    case Operation::kQkv:
      return prefix + "qkv";
    case Operation::kSharedUp:
      return prefix + "shared.gate_up";
    case Operation::kUp:
      return prefix + "gate_up";
    case Operation::kExpertUp:
      return prefix + "experts.gate_up";
    case Operation::kOutput:
      return prefix + "o";
    case Operation::kDown:
      return prefix + "down";
    case Operation::kExpertDown:
      return prefix + "experts.down";
    case Operation::kSharedDown:
      return prefix + "shared.down";
    case Operation::kHead:
      return model.tied_head ? "embedding" : "head";
    default:
      return "";
  }
}

}  // namespace nmc::plan
