// The tokens of a vocabulary that stay within a run.
#pragma once

#include <array>
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

// Immutable. Some 5 MB for 262,144 tokens.
class RunTokens {
 public:
  // Tree nodes behind characters of the class whose byte begins none: where tokens leave the run.
  struct Leaving {
    uint8_t byte;
    int characters;  // before it
    std::vector<uint32_t> nodes;
  };

  RunTokens(const TokenTrie& trie, const RunClass& run_class);

  // Sets the bits of the tokens that are up to `characters` characters of the class and nothing
  // else; the last one may be cut.
  void add_to(std::span<uint32_t> mask, int characters) const;

  const std::vector<Leaving>& leaving() const { return leaving_; }

  // Of the tokens that are characters of the class and nothing else: how many begin with `byte`,
  // ...
  size_t count(uint8_t byte) const { return by_byte_[byte].size(); }
  // ... those that do and have up to so many characters, ...
  template <typename Take>
  void visit(uint8_t byte, int characters, const Take& take) const {
    for (const Token& token : by_byte_[byte]) {
      if (token.characters > characters) break;
      take(token.id);
    }
  }
  // ... and those that have more.
  std::span<const int32_t> longer(int characters) const {
    return std::span(tokens_).subspan(up_to_[static_cast<size_t>(characters)]);
  }

  // The bytes up to node `n` are characters of the class, the last one maybe cut.
  bool inside(uint32_t n) const { return flags_[n] & kInside; }
  // ... and so they are up to the end of every token below it.
  bool all_inside(uint32_t n) const { return flags_[n] == kInside; }

 private:
  static constexpr uint8_t kInside = 1, kOthersBelow = 2;

  struct Token {
    int32_t id;
    int characters;
  };

  std::vector<Leaving> leaving_;
  std::array<std::vector<Token>, 256> by_byte_;  // by the first byte, then by their characters
  std::vector<uint8_t> flags_;                   // by node
  std::vector<int32_t> tokens_;                  // by their characters
  std::vector<uint32_t> up_to_;                  // by characters: how many tokens have no more
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
