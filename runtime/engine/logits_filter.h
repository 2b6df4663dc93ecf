// Changes to one row of logits by token id. `logits`: [vocab] float32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/request.h"

namespace nmc {

void add_bias(std::span<float> logits, const std::vector<TokenBias>& bias);

// Forbidden tokens get -infinity. Ids beyond the row are left out.
void forbid(std::span<float> logits, std::span<const int32_t> tokens);

// Forbids every token whose bit in `mask` is clear, or that lies beyond the mask.
void keep_allowed(std::span<float> logits, std::span<const uint32_t> mask);

// Some token may still be drawn.
bool any_allowed(std::span<const float> logits);

}  // namespace nmc
