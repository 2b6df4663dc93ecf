// Rotary position embedding, interleaved: the pairs are (2i, 2i + 1).
#pragma once

#include <cstdint>
#include <span>

namespace nmc::reference {

// Rotates one head of `head.size()` (even) values at `position` by theta^(-2i / size) per pair.
// Frequencies and angles are rounded to float32, as in every implementation the models were made
// with: at positions of 100,000 that rounding turns a pair by up to 0.004 rad, far more than bf16
// or double could hide.
void rope(std::span<double> head, int64_t position, double theta);

}  // namespace nmc::reference
