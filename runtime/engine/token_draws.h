// The next tokens of all sequences that have logits.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/threads.h"
#include "runtime/engine/sequence.h"

namespace nmc {

struct TokenDraw {
  Sequence* sequence;
  std::span<const float> logits;  // [vocabulary]
  Result<GeneratedToken> token = GeneratedToken{};
};

// Draws on several threads where that pays. One caller at a time.
class TokenDraws {
 public:
  explicit TokenDraws(size_t threads) : threads_(threads) {}

  // Fills in the tokens, with log-probabilities where the request wants them. No two draws are of
  // one sequence; none of them follows its token yet.
  void run(std::span<TokenDraw> draws);

 private:
  ThreadPool threads_;
  std::vector<std::vector<float>> scratch_;  // a row for each draw
};

}  // namespace nmc
