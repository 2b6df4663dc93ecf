// The tokens of a vocabulary that stay within a run.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/text/grammar/run.h"
#include "runtime/text/grammar/token_trie.h"

namespace nmc {

// Immutable. About 2 MB for 262,144 tokens.
class RunTokens {
 public:
  RunTokens(const TokenTrie& trie, const RunClass& run_class);

  // Sets the bits of the tokens that are up to `characters` characters of the class and nothing
  // else; the last one may be cut.
  void add_to(std::span<uint32_t> mask, int characters) const;

  // The bytes up to node `n` are characters of the class, the last one maybe cut.
  bool inside(uint32_t n) const { return flags_[n] & kInside; }
  // ... and so they are up to the end of every token below it.
  bool all_inside(uint32_t n) const { return flags_[n] == kInside; }

 private:
  static constexpr uint8_t kInside = 1, kOthersBelow = 2;

  std::vector<uint8_t> flags_;   // by node
  std::vector<int32_t> tokens_;  // by their characters
  std::vector<uint32_t> up_to_;  // by characters: how many tokens have no more
  std::vector<std::vector<uint32_t>>
      masks_;  // by characters, up to kMasks; the last: of all tokens
};

// The tokens of the classes that were asked for last. Thread-safe.
class RunTokensCache {
 public:
  std::shared_ptr<const RunTokens> get(const TokenTrie& trie, const RunClass& run_class);

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const RunTokens>>> kept_;  // last used first
};

}  // namespace nmc
