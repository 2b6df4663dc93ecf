// Weights from a formula, so that a model of any size can be made, and any single weight recomputed
// anywhere. The rule, word by word: docs/conversion.md, "Synthetic weights".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/format/synthetic_formula.h"
#include "runtime/model/description.h"

namespace nmc {

// Immutable, so any number of threads may use it. Keeps a table of experts x hidden signs.
class SyntheticRule {
 public:
  explicit SyntheticRule(const ModelDescription& model);

  const SyntheticConstants& constants() const { return constants_; }
  // XXH3-64 of "directions", from which tokens draw theirs.
  static uint64_t directions_seed();

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
  const int8_t* signs(int64_t direction) const {
    return signs_.data() + direction * constants_.hidden;
  }

  SyntheticConstants constants_;
  double output_gain_, head_gain_;
  std::vector<int8_t> signs_;  // [experts][hidden], +1 or -1
};

}  // namespace nmc
