// One token from one row of logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/request.h"

namespace nmc {

// Draws a token by temperature, top_k, min_p and top_p; the other parameters have changed the
// logits before. `logits`: [vocab] float32, at least one finite, -infinity never drawn. The result
// depends only on the arguments: `seed` names the sequence's random stream, `step` the draw in it.
// It is the token with the best score (token_noise.h) among those that the filters keep.
// At temperature 0, and among equal probabilities, the lowest id wins.
int32_t sample_token(std::span<const float> logits, const SamplingParams& params, uint64_t seed,
                     uint64_t step);

// The natural logarithm of the probability of `token`, and the `top` most likely tokens.
GeneratedToken with_logprobs(std::span<const float> logits, int32_t token, int64_t top);

// The seed of answer `index` to one request: `seed` itself for the first.
uint64_t derived_seed(uint64_t seed, uint64_t index);

}  // namespace nmc
