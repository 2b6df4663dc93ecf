#include "kernels/reference/linear.h"

#include <cassert>

namespace nmc::reference {
namespace {

// Eight partial sums, so that additions need not wait for each other; their order depends on the
// length alone, so a token's result does not depend on its neighbours.
double dot(std::span<const double> a, std::span<const double> b) {
  constexpr size_t kLanes = 8;
  double sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (size_t lane = 0; i < a.size(); ++i, ++lane) sums[lane] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace

void decode_row(const Weight& weight, int64_t row, std::span<double> out) {
  const Bf16* group = weight.values + row / kAtomRows * kAtomRows *
                                          static_cast<int64_t>(weight.spec->padded_cols());
  for (int64_t col = 0; col < weight.cols(); ++col) {
    out[static_cast<size_t>(col)] = bf16_to_float(group[index_in_group(row, col)]);
  }
}

Rows linear(const Rows& in, const Weight& weight) {
  assert(in.cols() == weight.cols());
  Rows out(in.rows(), weight.rows());
  std::vector<double> decoded(static_cast<size_t>(weight.cols()));
  for (int64_t row = 0; row < weight.rows(); ++row) {
    decode_row(weight, row, decoded);
    for (int64_t token = 0; token < in.rows(); ++token) {
      out.row(token)[static_cast<size_t>(row)] = dot(in.row(token), decoded);
    }
  }
  return out;
}

std::vector<Rows> linear_parts(const Rows& in, const Weight& weight, const ModelDescription& model,
                               std::span<const int64_t> widths) {
  const Rows stored = linear(in, weight);
  std::vector<Rows> parts;
  for (int64_t width : widths) parts.emplace_back(in.rows(), width);
  for (int64_t row = 0; row < weight.rows(); ++row) {
    const RowSource source = row_source(*weight.spec, model, row);
    Rows& part = parts[static_cast<size_t>(source.part)];
    for (int64_t token = 0; token < in.rows(); ++token) {
      part.row(token)[static_cast<size_t>(source.row)] =
          stored.row(token)[static_cast<size_t>(row)];
    }
  }
  return parts;
}

}  // namespace nmc::reference
