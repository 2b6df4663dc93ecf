// The next token of one sequence: everything that decides about it, in order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/engine/executor.h"
#include "runtime/engine/grammar_guide.h"
#include "runtime/engine/penalties.h"
#include "runtime/engine/request.h"

namespace nmc {

// Depends on its own sequence alone: the same logits, request and seed give the same tokens
// whatever else runs. One thread at a time.
class TokenChooser {
 public:
  enum class After {
    kContinue,
    kDrop,  // the token ends the sequence and is no part of the output
    kStop,  // the token is the last one of the output
  };

  // `request` must outlive the chooser; `eos`: the model's end-of-sequence tokens.
  TokenChooser(const GenerationRequest& request, const std::vector<int32_t>& eos, uint64_t seed);

  // The next tokens that depend on nothing but logits and what `device_draw` says, unless one of
  // them changes that; 0: the next one is the host's.
  int64_t free_draws() const;
  // How a device draws them.
  DeviceDraw device_draw() const;
  // Draws a token. `logits`: [vocabulary] float32. `scratch` is memory that callers reuse. Fails
  // when no token is left: a constraint is never dropped to go on.
  Result<int32_t> choose(std::span<const float> logits, std::vector<float>* scratch);
  // Follows a token that was drawn.
  After take(int32_t token);

 private:
  bool changes_logits() const;
  bool is_due();

  const GenerationRequest& request_;
  const uint64_t seed_;
  std::vector<int32_t> ends_;  // tokens that end the output
  Penalties penalties_;
  std::optional<GrammarGuide> guide_;
  int64_t written_ = 0;  // tokens of the output
  bool met_ = false;     // the deadline's token is among them
};

}  // namespace nmc
