#include "runtime/text/grammar/local_mask.h"

#include <utility>

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

// Calls visit(node) for every node right below `n`.
template <typename Visit>
void for_children(const TokenTrie& trie, uint32_t n, const Visit& visit) {
  const auto& nodes = trie.nodes();
  for (uint32_t child = n + 1; child < nodes[n].end; child = nodes[child].end) visit(child);
}

void forbid_token(std::span<uint32_t> mask, int32_t token) {
  mask[static_cast<size_t>(token) / 32] &= ~(uint32_t{1} << (token % 32));
}

}  // namespace

void LocalMask::add_to(std::span<uint32_t> mask) const {
  if (run) run->add_to(mask, run_characters);
  for (size_t i = 0; i < words.size(); ++i) mask[i] |= words[i];
  for (int32_t token : tokens) allow_token(mask, token);
}

size_t LocalMask::bytes() const {
  return sizeof *this + words.size() * sizeof words[0] + tokens.size() * sizeof tokens[0] +
         exits.size() * sizeof exits[0];
}

// The tokens of a mask that is being made: a list while they are few, bits from then on.
class LocalMasks::Tokens {
 public:
  explicit Tokens(size_t words) : size_(words) {}

  void allow(int32_t token) {
    if (words_.empty() && list_.size() < kFewTokens) {
      list_.push_back(token);
    } else {
      allow_token(words(), token);
    }
  }
  std::span<uint32_t> words() {
    if (words_.empty()) {
      words_.resize(size_);
      for (int32_t token : std::exchange(list_, {})) allow_token(words_, token);
    }
    return words_;
  }
  void move_to(LocalMask* mask) {
    mask->words = std::move(words_);
    mask->tokens = std::move(list_);
  }

 private:
  const size_t size_;
  std::vector<int32_t> list_;
  std::vector<uint32_t> words_;  // empty: the list holds all
};

LocalMasks::LocalMasks(std::shared_ptr<const Machine> machine, const TokenTrie& trie,
                       RunTokensCache& runs)
    : machine_(std::move(machine)),
      trie_(trie),
      runs_(runs),
      checks_(*machine_),
      automaton_(std::make_unique<Automaton>(machine_)) {}

LocalMask LocalMasks::compute(StateId state) {
  if (automaton_->size() > kMaxAutomatonSets) automaton_ = std::make_unique<Automaton>(machine_);
  const SetId start = automaton_->start(state);
  if (start == kDeadSet) return {};
  LocalMask mask;
  Tokens allowed(trie_.mask_words());
  if (checks_.decides(state)) {
    const MachineState& s = machine_->states[state];
    mask.run = runs_.get(trie_, machine_->runs[static_cast<size_t>(s.run)]);
    mask.run_characters = s.run_left;
    add_below(0, start, mask.run.get(), &allowed, &mask.exits);
  } else {
    add_by_first_byte(start, &allowed, &mask.exits);
  }
  allowed.move_to(&mask);
  return mask;
}

// The tokens below node `n`, except those of `known`, which are seen to.
void LocalMasks::add_below(uint32_t n, SetId set, const RunTokens* known, Tokens* allowed,
                           std::vector<uint32_t>* exits) {
  auto take = [&](int32_t token) { allowed->allow(token); };
  walk(*automaton_, trie_, n, set, [&](uint32_t i, SetId here) {
    const TokenTrie::Node& node = trie_.nodes()[i];
    if (known && known->all_inside(i)) return false;
    if (!known || !known->inside(i)) trie_.tokens_at(i, take);
    if (node.end == i + 1) return false;
    if (automaton_->ended(here)) exits->push_back(i);
    if (!node.plain_below || !automaton_->takes_plain_text(here)) return true;
    trie_.tokens_below(i, take);
    return false;
  });
}

// Where nearly any plain text may follow, as in a key that must not be one of some names: all of
// it, then a closer look at the few first bytes with which not.
void LocalMasks::add_by_first_byte(SetId start, Tokens* allowed, std::vector<uint32_t>* exits) {
  const std::vector<bool> plain = plain_first_bytes(start);
  size_t tokens = 0;
  for_children(trie_, 0, [&](uint32_t child) {
    if (plain[trie_.nodes()[child].byte]) trie_.tokens_below(child, [&](int32_t) { ++tokens; });
  });
  if (tokens <= trie_.vocab_size() / 2) return add_below(0, start, nullptr, allowed, exits);
  const auto all_plain = runs_.get(trie_, plain_run_class());
  const std::span<uint32_t> words = allowed->words();
  all_plain->add_to(words, static_cast<int>(kMaxTokenBytes));
  for_children(trie_, 0, [&](uint32_t child) {
    const uint8_t byte = trie_.nodes()[child].byte;
    const SetId set = automaton_->step(start, byte);
    const RunTokens* known = plain[byte] ? all_plain.get() : nullptr;
    if (!known) {
      auto clear = [&](int32_t token) { forbid_token(words, token); };
      trie_.tokens_at(child, clear);
      trie_.tokens_below(child, clear);
    }
    if (set == kDeadSet) return;
    if (!known) trie_.tokens_at(child, [&](int32_t token) { allow_token(words, token); });
    if (automaton_->ended(set) && trie_.nodes()[child].end > child + 1) exits->push_back(child);
    add_below(child, set, known, allowed, exits);
  });
}

// By byte: after it, any plain text may follow.
std::vector<bool> LocalMasks::plain_first_bytes(SetId start) {
  std::vector<bool> by_class;
  for (uint8_t byte : machine_->class_bytes) {
    const PlainState open = next_plain(PlainState::kBoundary, byte);
    const SetId set = open == PlainState::kInvalid ? kDeadSet : automaton_->step(start, byte);
    by_class.push_back(set != kDeadSet && automaton_->takes_plain_text(set, open));
  }
  std::vector<bool> by_byte(256);
  for (size_t byte = 0; byte < 256; ++byte) by_byte[byte] = by_class[machine_->byte_class[byte]];
  return by_byte;
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
