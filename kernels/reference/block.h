// How attention and MLP of a layer join the residual stream.
#pragma once

#include <functional>

#include "kernels/reference/rows.h"

namespace nmc::reference {

using Branch = std::function<Rows(const Rows&)>;  // [tokens, hidden] → [tokens, hidden]

// The parallel block, x + attention(n) + mlp(n) with n = norm(x): both branches read the same n.
Rows parallel_block(const Rows& x, const Rows& n, const Branch& attention, const Branch& mlp);

}  // namespace nmc::reference
