// The two norms of the cohere2_moe family.
#pragma once

#include "kernels/reference/rows.h"
#include "runtime/base/bf16.h"
#include "runtime/model/description.h"

namespace nmc::reference {

// Each row of [tokens, hidden] by the model's norm; `weight` [hidden] multiplies as it is (no
// "1 + weight") and there is no bias.
//   kRms:   x / sqrt(mean(x²) + eps)
//   kLayer: (x - mean(x)) / sqrt(mean((x - mean(x))²) + eps)
Rows norm(const Rows& in, std::span<const Bf16> weight, const ModelDescription& model);

}  // namespace nmc::reference
