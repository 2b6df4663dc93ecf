// Which experts a token uses, and how much of each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/description.h"

namespace nmc::reference {

struct ExpertChoice {
  int64_t expert = 0;
  double weight = 0;
};

// The experts_per_token largest logits, largest first; of equal logits the lower index wins.
// Their weights: sigmoid of each logit, divided by the sum of the chosen ones when the model
// renormalizes; or the softmax over the chosen logits, which needs no renormalization.
std::vector<ExpertChoice> route(std::span<const double> logits, const ModelDescription& model);

}  // namespace nmc::reference
