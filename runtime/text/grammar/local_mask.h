// The part of a token mask that depends on one place of a grammar alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/text/grammar/automaton.h"
#include "runtime/text/grammar/token_trie.h"

namespace nmc {

// Which tokens may follow a state of a rule, as far as the rule itself decides it. Tokens that run
// on beyond the rule's end depend on what called it: for those the tree nodes are kept at which the
// rule ended. (The split is the main insight of XGrammar, arXiv:2411.15100.)
struct LocalMask {
  std::vector<uint32_t> words;  // allowed tokens as bits; empty when `tokens` lists them
  std::vector<int32_t> tokens;  // allowed tokens, when they are few
  std::vector<uint32_t> exits;  // tree nodes with children at which the rule may have ended

  // Adds the allowed tokens to `mask`.
  void add_to(std::span<uint32_t> mask) const;
};

// Walks the tree from `state` with an empty stack.
LocalMask compute_local_mask(Automaton& automaton, const TokenTrie& trie, StateId state);

// Adds every token below node `n` (the node itself not) whose remaining bytes can follow `set`.
// Returns through `allow` each allowed token.
void walk_subtree(Automaton& automaton, const TokenTrie& trie, uint32_t n, SetId set,
                  const std::function<void(int32_t)>& allow);

inline void allow_token(std::span<uint32_t> mask, int32_t token) {
  mask[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32);
}
inline bool is_allowed(std::span<const uint32_t> mask, int32_t token) {
  return mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1;
}

}  // namespace nmc
