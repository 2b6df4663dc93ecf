// The experts of a sparse layer, routed and shared.
#pragma once

#include "kernels/reference/mlp.h"
#include "kernels/reference/router.h"

namespace nmc::reference {

// One expert over the tokens that chose it: row i of mlp(in) times scale[i]. The weight multiplies
// the expert's output, not its input: SiLU is not linear.
Rows expert(const Rows& in, std::span<const double> scale, const MlpWeights& weights,
            const ModelDescription& model);

// How the shared expert joins: routed + shared, or the half of the whole sum.
Rows combine_shared(const Rows& routed, const Rows& shared, const ModelDescription& model);

}  // namespace nmc::reference
