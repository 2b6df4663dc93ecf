#include "kernels/reference/embedding.h"

#include "kernels/reference/linear.h"

namespace nmc::reference {

Rows embed(const Weight& table, std::span<const int32_t> tokens) {
  Rows out(static_cast<int64_t>(tokens.size()), table.cols());
  for (int64_t i = 0; i < out.rows(); ++i) {
    decode_row(table, tokens[static_cast<size_t>(i)], out.row(i));
  }
  return out;
}

}  // namespace nmc::reference
