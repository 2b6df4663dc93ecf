// Weights from a formula, so that a model of any size can be made, and any single weight recomputed
// anywhere. The rule, word by word: docs/conversion.md, "Synthetic weights".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/bf16.h"
#include "runtime/model/description.h"

namespace nmc {

// 64 well-mixed bits: the output of the splitmix64 generator at state `state`.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
inline uint64_t splitmix64(uint64_t state) {
  uint64_t z = state + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// A checkpoint tensor as the rule sees it.
struct SyntheticTensor {
  enum class Kind { kPlain, kNorm, kFinalNorm, kRouter, kEmbedding };

  Kind kind = Kind::kPlain;
  uint64_t seed = 0;  // XXH3-64 of the checkpoint name
  float scale = 0;    // kPlain: largest magnitude
  int64_t layer = 0;  // kRouter
};

// Immutable, so any number of threads may use it. Keeps a table of experts x hidden signs.
class SyntheticRule {
 public:
  explicit SyntheticRule(const ModelDescription& model);

  // `name` as checkpoints spell it, e.g. "model.layers.3.mlp.gate.weight"; `cols`: its inputs.
  SyntheticTensor tensor(const std::string& name, uint64_t cols) const;

  // Row `row` (0 for a vector) of a tensor with `out.size()` columns.
  void fill_row(const SyntheticTensor& tensor, uint64_t row, std::span<Bf16> out) const;

  // The directions of a token's embedding, in the order drawn: experts_per_token of [0, experts).
  std::vector<int64_t> directions(uint64_t token) const;
  // The direction that an expert of a layer listens to.
  int64_t direction_of(int64_t layer, int64_t expert) const;

 private:
  void fill_router(const SyntheticTensor& tensor, uint64_t row, std::span<Bf16> out) const;
  void fill_embedding(const SyntheticTensor& tensor, uint64_t row, std::span<Bf16> out) const;
  const int8_t* signs(int64_t direction) const { return signs_.data() + direction * hidden_; }

  int64_t hidden_, experts_, chosen_;
  float direction_step_, embedding_noise_;  // powers of two
  float router_gain_, router_noise_;        // the noise a power of two
  double output_gain_, head_gain_;
  std::vector<int8_t> signs_;  // [experts][hidden], +1 or -1
};

}  // namespace nmc
