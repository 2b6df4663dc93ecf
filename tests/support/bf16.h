// What may be expected of an executor with BF16 operands.
#pragma once

#include <vector>

#include "runtime/model/description.h"
#include "tests/support/golden.h"

namespace nmc::test {

// How far BF16 operands move the logits, relative to the largest of their row.
//
// Rounding to BF16 is off by at most u = 2^-9, at random: variance u²/3. In a sum of products whose
// terms are off independently, the sum is off by as much, relative to its size, however many terms
// there are. Roundings on the way through a layer (`roundings`): n, q, k, v and the attention
// output; n and the hidden units: 7; with attention's weights 8. And one more n before the head.
// What a layer adds passes through later layers about once (norms divide by the size of the whole
// stream). Four standard deviations, for the largest of 10^5 values.
double bf16_tolerance(const ModelDescription& model, int roundings);

// The rows of the prompt's logits whose own tokens were far from ties in every layer: two experts
// whose router logits are close may change places, and the token is then computed by another
// expert. Such positions say nothing about errors.
std::vector<float> without_ties(const GoldenPrompt& prompt, const std::vector<float>& logits);

}  // namespace nmc::test
