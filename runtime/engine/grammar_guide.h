// A grammar at work on one sequence: dormant until its trigger, then deciding what may come next.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/text/grammar/grammar.h"

namespace nmc {

// One thread at a time.
class GrammarGuide {
 public:
  GrammarGuide(std::shared_ptr<Grammar> grammar, std::optional<int32_t> trigger);

  // The next token must fit the grammar.
  bool active() const { return matcher_.has_value(); }
  // The tokens that may come next as bits, while active; valid until the next call.
  std::span<const uint32_t> mask();
  // Whether `token` may come next, while active.
  bool allows(int32_t token);
  // `token` ends a text that fits the grammar.
  bool ends_with(int32_t token) const;
  // Follows a token that the mask allows. True when the grammar was the whole text's and nothing
  // can be added to it.
  bool take(int32_t token);

 private:
  std::shared_ptr<Grammar> grammar_;
  std::optional<int32_t> trigger_;
  std::optional<GrammarMatcher> matcher_;
  std::vector<uint32_t> mask_;
};

}  // namespace nmc
