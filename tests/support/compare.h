// Comparison of computed with expected values, with a report that shows how close it was.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "runtime/model/description.h"

namespace nmc::test {

// The largest |got - expected| of a row over the largest |expected| of that row, over all rows.
struct Deviation {
  double error = 0;      // infinite when a value is not finite, or there is nothing to compare
  double tolerance = 0;  // what it may be
  int64_t row = -1;      // where it is largest

  bool ok() const { return error <= tolerance; }
};

// Rows of `width` values. Another number of values on one side is an infinite error.
template <typename Got>
Deviation compare_rows(std::span<const Got> got, std::span<const float> expected, int64_t width,
                       double tolerance);

// "error 3.1e-07, tolerance 1.2e-05, ratio 0.026, worst in row 17"
std::ostream& operator<<(std::ostream& out, const Deviation& deviation);

// How far values of this model may lie from the same values in float32, after `tokens` tokens,
// relative to the largest value of their row.
//
// Both sides read the same BF16 weights; ours is double, so the float32 side makes the error. Its
// unit roundoff is u = 2^-24.
//   A sum of K products that is rounded after each step: the partial sums grow like sqrt(j), each
//   rounding is off by up to u of its partial sum, at random, so with variance 1/3; the variance of
//   the result is u² K/6, relative to its size. (N. Higham and T. Mary, "A new approach to
//   probabilistic rounding error analysis", 2019.)
//   A rotation: a key `reach` tokens away meets the query at an angle that is off by up to
//   u reach f, f being the pair's frequency, because frequencies are float32: variance
//   u² reach² mean(f²) / 3, the fastest pair left out, whose frequency is exactly 1.
// Errors of different operations are independent, so their variances add up:
//   per layer     norm, q/k/v and gate/up: 3 hidden; scores: head_dim; weighted values: reach; o:
//                 q width; down: the width of the MLP, or of k experts and the shared one, with
//                 another hidden for the router; and the rotation
//   at the end    norm and head: 2 hidden
// What a layer adds to the stream passes through later layers about once, since every norm divides
// by the size of the whole stream. Four standard deviations are allowed: the largest of 10^5 values
// has to pass.
double float32_tolerance(const ModelDescription& model, int64_t tokens);

// A tolerance is worth its name below this: one sixteenth of BF16's roundoff (2^-9), so that even
// one extra rounding to BF16 anywhere could not pass.
inline constexpr double kLoosestTolerance = 1.0 / 8192;

}  // namespace nmc::test
