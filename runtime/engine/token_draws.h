// The next tokens of all sequences that have logits.
#pragma once

#include <functional>
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

// A token of a prompt, and what the model thought would come there.
struct TokenScore {
  Sequence* sequence;
  std::span<const float> logits;  // [vocabulary]
  GeneratedToken token;
};

// Draws on several threads where that pays. One caller at a time.
class TokenDraws {
 public:
  explicit TokenDraws(size_t threads) : threads_(threads) {}

  // Fills in the tokens, with log-probabilities where the request wants them. No two draws are of
  // one sequence; none of them follows its token yet.
  void run(std::span<TokenDraw> draws);
  // Fills in the log-probabilities.
  void run(std::span<TokenScore> scores);

 private:
  void each(size_t count, size_t values, const std::function<void(size_t)>& one);

  ThreadPool threads_;
  std::vector<std::vector<float>> scratch_;  // a row for each draw
};

}  // namespace nmc
