// The gated MLP that dense layers, experts and shared experts all are.
#pragma once

#include "kernels/reference/rows.h"
#include "kernels/reference/weights.h"

namespace nmc::reference {

// down(silu(gate x) · up x): [tokens, hidden] → [tokens, hidden].
Rows mlp(const Rows& in, const MlpWeights& weights, const ModelDescription& model);

}  // namespace nmc::reference
