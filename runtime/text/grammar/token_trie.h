// The vocabulary as a tree of bytes: what a mask is computed by walking.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmc {

// How a special token is spelled in grammars and in the tree: a byte that text never holds, then
// the id. A grammar over text can therefore never allow one by accident.
std::string special_spelling(int32_t token);

// Nodes stand in depth-first order, so that a walk is one pass over an array. Immutable.
class TokenTrie {
 public:
  struct Node {
    uint32_t end;          // index behind this node's subtree
    uint32_t first_token;  // into tokens(); tokens of this node: up to the next node's first_token
    uint8_t byte;          // the byte that leads here
    bool plain_below;      // whatever follows to the end of a token is whole plain characters
  };

  // `spellings`: by token id, the bytes it stands for; an empty one is left out. Tokens longer than
  // kMaxTokenBytes are left out too.
  explicit TokenTrie(std::span<const std::string> spellings);

  // Node 0 is the root; the last entry is a sentinel.
  const std::vector<Node>& nodes() const { return nodes_; }
  size_t vocab_size() const { return spellings_.size(); }
  size_t mask_words() const { return (spellings_.size() + 31) / 32; }
  std::string_view spelling(int32_t token) const { return spellings_[static_cast<size_t>(token)]; }

  // Calls take(token) for every token that ends exactly at node `n`.
  template <typename Take>
  void tokens_at(uint32_t n, const Take& take) const {
    for (uint32_t i = nodes_[n].first_token; i < nodes_[n + 1].first_token; ++i) take(tokens_[i]);
  }
  // ... for every token that ends below it.
  template <typename Take>
  void tokens_below(uint32_t n, const Take& take) const {
    uint32_t last = nodes_[nodes_[n].end].first_token;
    for (uint32_t i = nodes_[n + 1].first_token; i < last; ++i) take(tokens_[i]);
  }

 private:
  void mark_plain();

  std::vector<std::string> spellings_;
  std::vector<Node> nodes_;
  std::vector<int32_t> tokens_;  // in the order of their nodes
};

}  // namespace nmc
