// The part of a token mask that depends on one place of a grammar alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/text/grammar/automaton.h"
#include "runtime/text/grammar/run_check.h"
#include "runtime/text/grammar/run_tokens.h"
#include "runtime/text/grammar/token_trie.h"

namespace nmc {

// Which tokens may follow a state of a rule, as far as the rule itself decides it. Tokens that run
// on beyond the rule's end depend on what called it: for those the tree nodes are kept at which the
// rule ended. (The split is the main insight of XGrammar, arXiv:2411.15100.)
struct LocalMask {
  std::shared_ptr<const RunTokens> run;  // allowed tokens: those of a run, when not null, ...
  int run_characters = 0;                // ... of up to so many characters, ...
  std::vector<uint32_t> words;           // ... these, as bits; empty when `tokens` lists them, ...
  std::vector<int32_t> tokens;           // ... and these, when they are few
  std::vector<uint32_t> exits;  // tree nodes with children at which the rule may have ended

  // Adds the allowed tokens to `mask`.
  void add_to(std::span<uint32_t> mask) const;
  // Of memory, without the run, which is shared.
  size_t bytes() const;
};

// Computes the local masks of a machine. Not thread-safe. Refers to its arguments.
class LocalMasks {
 public:
  LocalMasks(std::shared_ptr<const Machine> machine, const TokenTrie& trie, RunTokensCache& runs);

  LocalMask compute(StateId state);

 private:
  class Tokens;

  void add_leaving(const MachineState& state, SetId start, Tokens* allowed,
                   std::vector<uint32_t>* exits);
  void add_by_class(SetId start, Tokens* allowed, std::vector<uint32_t>* exits);
  void add_node(uint32_t n, SetId set, const RunTokens* known, Tokens* allowed,
                std::vector<uint32_t>* exits);
  void add_below(uint32_t n, SetId set, const RunTokens* known, Tokens* allowed,
                 std::vector<uint32_t>* exits);
  void add_longer(int32_t token, SetId start, const RunTokens& known, Tokens* allowed,
                  std::vector<uint32_t>* exits);
  SetId after_character(const RunClass& run, SetId set);
  int64_t text_depth(SetId set, const RunClass& text, uint8_t open);
  struct KnownText;
  KnownText known_text(SetId start, const RunClass& text, const RunTokens& tokens);

  const std::shared_ptr<const Machine> machine_;
  const TokenTrie& trie_;
  std::vector<std::shared_ptr<const RunTokens>> runs_;  // of the machine's runs
  std::shared_ptr<const RunTokens> plain_;
  RunChecks checks_;
  std::unique_ptr<Automaton> automaton_;
  // What text_depth() said.
  std::map<std::tuple<const RunClass*, SetId, uint8_t>, int64_t> depths_;
};

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
