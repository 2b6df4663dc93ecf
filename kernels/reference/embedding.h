// Token ids to rows of the residual stream.
#pragma once

#include "kernels/reference/rows.h"
#include "kernels/reference/weights.h"

namespace nmc::reference {

// `table` [vocab, hidden] → [tokens, hidden], unscaled.
Rows embed(const Weight& table, std::span<const int32_t> tokens);

}  // namespace nmc::reference
