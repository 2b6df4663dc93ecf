// What a model computes, as data: every later layer (file, plan, kernels) reads only this.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nmc {

enum class NormKind { kRms, kLayer };  // kLayer: mean subtracted, no bias
enum class RouterKind { kSigmoid, kSoftmax };
// How the shared expert joins the routed sum: routed + shared, or half of that.
enum class SharedCombine { kSum, kAverage };

struct LayerDescription {
  bool sparse = false;  // routed experts; false: one dense MLP of `dense_width`
  bool rope = false;    // q and k are rotated
  int64_t window = 0;   // keys a query sees, itself included; 0: all

  bool operator==(const LayerDescription&) const = default;
};

// A decoder of the cohere2_moe kind: one norm per layer feeds attention and MLP, whose outputs are
// both added to the residual (parallel block); interleaved RoPE; gated SiLU MLPs without biases.
// Source: model.md §1-§2, transformers' cohere2_moe.
struct ModelDescription {
  std::string architecture;  // "cohere2_moe"
  int64_t vocab = 0;         // rows of the embedding
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;      // heads * head_dim need not equal hidden
  int64_t dense_width = 0;   // MLP width of layers that are not sparse; 0 when there are none
  int64_t expert_width = 0;  // MLP width of one expert
  int64_t experts = 0;
  int64_t experts_per_token = 0;
  int64_t shared_experts = 0;  // one MLP of width shared_experts * expert_width when > 0
  SharedCombine shared_combine = SharedCombine::kAverage;
  RouterKind router = RouterKind::kSoftmax;
  bool renormalize = true;  // sigmoid scores of the chosen experts are divided by their sum
  NormKind norm = NormKind::kLayer;
  double norm_eps = 1e-5;
  double rope_theta = 10000;
  double logit_scale = 1;
  bool tied_head = true;    // logits use the embedding
  int64_t max_context = 0;  // positions the model was made for
  int32_t bos_token = -1;   // -1: none
  int32_t pad_token = -1;
  std::vector<int32_t> eos_tokens;  // any of them ends a generation
  std::vector<LayerDescription> layers;

  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  int64_t group() const { return heads / kv_heads; }  // query heads per KV head
  int64_t shared_width() const { return shared_experts * expert_width; }

  // Weights of the whole model, and those one token reads (a tied head counts once).
  uint64_t parameters() const;
  uint64_t active_parameters() const;

  bool operator==(const ModelDescription&) const = default;
};

}  // namespace nmc
