// The operations of a forward pass as a table, so that a test can exchange one of them and see the
// comparison with known values fail.
#pragma once

#include <functional>

#include "kernels/reference/attention.h"
#include "kernels/reference/block.h"
#include "kernels/reference/embedding.h"
#include "kernels/reference/experts.h"
#include "kernels/reference/mlp.h"
#include "kernels/reference/norm.h"
#include "kernels/reference/rope.h"
#include "kernels/reference/router.h"

namespace nmc::reference {

struct Operations {
  std::function<decltype(reference::embed)> embed = reference::embed;
  std::function<decltype(reference::norm)> norm = reference::norm;
  std::function<decltype(reference::rope)> rope = reference::rope;
  std::function<decltype(reference::attention)> attention = reference::attention;
  std::function<decltype(reference::route)> route = reference::route;
  std::function<decltype(reference::mlp)> mlp = reference::mlp;  // dense and shared
  std::function<decltype(reference::expert)> expert = reference::expert;
  std::function<decltype(reference::combine_shared)> combine_shared = reference::combine_shared;
  std::function<decltype(reference::parallel_block)> block = reference::parallel_block;
};

}  // namespace nmc::reference
