#include "runtime/text/grammar/local_mask.h"

namespace nmc {
namespace {

constexpr size_t kFewTokens = 1024;  // listed one by one instead of as a bit mask

// Visits the nodes below `n` that the automaton can read from `set`, in order; visit(node, set)
// says whether to go on below the node.
template <typename Visit>
void walk(Automaton& automaton, const TokenTrie& trie, uint32_t n, SetId set, const Visit& visit) {
  const auto& nodes = trie.nodes();
  struct Level {
    uint32_t end;
    SetId set;
  };
  std::vector<Level> path{{nodes[n].end, set}};
  for (uint32_t i = n + 1; i < nodes[n].end;) {
    while (i >= path.back().end) path.pop_back();
    SetId next = automaton.step(path.back().set, nodes[i].byte);
    if (next == kDeadSet) {
      i = nodes[i].end;
      continue;
    }
    if (!visit(i, next)) {
      i = nodes[i].end;
      continue;
    }
    path.push_back({nodes[i].end, next});
    ++i;
  }
}

}  // namespace

void LocalMask::add_to(std::span<uint32_t> mask) const {
  for (size_t i = 0; i < words.size(); ++i) mask[i] |= words[i];
  for (int32_t token : tokens) allow_token(mask, token);
}

LocalMask compute_local_mask(Automaton& automaton, const TokenTrie& trie, StateId state) {
  LocalMask mask;
  std::vector<int32_t> allowed;
  SetId start = automaton.start(state);
  if (start == kDeadSet) return mask;
  auto take = [&](int32_t token) { allowed.push_back(token); };
  auto visit = [&](uint32_t n, SetId set) {
    trie.tokens_at(n, take);
    const TokenTrie::Node& node = trie.nodes()[n];
    if (node.end == n + 1) return false;
    if (automaton.ended(set)) mask.exits.push_back(n);
    if (!node.plain_below || !automaton.takes_plain_text(set)) return true;
    trie.tokens_below(n, take);
    return false;
  };
  walk(automaton, trie, 0, start, visit);
  if (allowed.size() <= kFewTokens) {
    mask.tokens = std::move(allowed);
  } else {
    mask.words.resize(trie.mask_words());
    for (int32_t token : allowed) allow_token(mask.words, token);
  }
  return mask;
}

void walk_subtree(Automaton& automaton, const TokenTrie& trie, uint32_t n, SetId set,
                  const std::function<void(int32_t)>& allow) {
  // Little lies below an exit: not worth asking for plain text.
  walk(automaton, trie, n, set, [&](uint32_t node, SetId) {
    trie.tokens_at(node, allow);
    return true;
  });
}

}  // namespace nmc
