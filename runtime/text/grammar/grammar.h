// Constrained decoding: which tokens may come next so that the text fits a grammar.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"
#include "runtime/text/grammar/token_trie.h"

namespace nmc {

struct LocalMask;
class RunTokensCache;

// A vocabulary prepared for masks, with what grammars over it share. Thread-safe.
class GrammarVocabulary {
 public:
  // `spellings`: by token id, the bytes of ordinary tokens; special_spelling(id) for special ones;
  // empty for ids that must never be produced. `end_tokens` end a generation.
  GrammarVocabulary(std::span<const std::string> spellings, std::vector<int32_t> end_tokens);

  ~GrammarVocabulary();

  const TokenTrie& trie() const { return trie_; }
  const std::vector<int32_t>& end_tokens() const { return end_tokens_; }

  // The mask of state `state` of a rule that is the same in every grammar (kSharedRulePrefix);
  // those of plain JSON are there from the start.
  const LocalMask& shared_mask(const std::string& rule, uint32_t state,
                               const std::function<LocalMask()>& compute) const;
  RunTokensCache& runs() const;

 private:
  struct SharedMasks;
  void compute_shared_masks() const;

  TokenTrie trie_;
  std::vector<int32_t> end_tokens_;
  std::unique_ptr<SharedMasks> masks_;
};

// A compiled grammar over a vocabulary; keeps masks it has computed, some 30 MB at most.
// Thread-safe.
class Grammar {
 public:
  static Result<std::shared_ptr<Grammar>> compile(
      const GrammarBuilder& builder, RuleId root,
      std::shared_ptr<const GrammarVocabulary> vocabulary);
  ~Grammar();

  const GrammarVocabulary& vocabulary() const;

 private:
  friend class GrammarMatcher;
  class Shared;
  explicit Grammar(std::unique_ptr<Shared> shared);
  std::unique_ptr<Shared> shared_;
};

// One text on its way through a grammar. One thread at a time.
class GrammarMatcher {
 public:
  explicit GrammarMatcher(std::shared_ptr<Grammar> grammar);
  ~GrammarMatcher();
  GrammarMatcher(GrammarMatcher&&) noexcept;

  // Sets bit t of `mask` (trie().mask_words() words) for every token t that may come next, end
  // tokens included when the text may end, and clears all others. At least one bit is set.
  void fill_mask(std::span<uint32_t> mask);

  // Takes a token; false, with nothing changed, when the mask would not allow it.
  bool accept_token(int32_t token);
  // Takes bytes; the index of the first one that cannot follow, or their number.
  size_t accept_bytes(std::string_view bytes);

  // The text so far is complete.
  bool can_end() const;
  // ... and nothing can be added to it.
  bool must_end() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmc
