// y = x Wᵀ over a weight in tile order.
#pragma once

#include <vector>

#include "kernels/reference/rows.h"
#include "kernels/reference/weights.h"

namespace nmc::reference {

// Row `row` of a weight, decoded: `out` has weight.cols() values.
void decode_row(const Weight& weight, int64_t row, std::span<double> out);

// [tokens, weight.cols] → [tokens, weight.rows]; column i belongs to the weight's stored row i.
Rows linear(const Rows& in, const Weight& weight);

// The same, with columns put back into the order of the checkpoint's matrices: part p of the
// result is in · (part p)ᵀ, [tokens, widths[p]].
std::vector<Rows> linear_parts(const Rows& in, const Weight& weight, const ModelDescription& model,
                               std::span<const int64_t> widths);

}  // namespace nmc::reference
