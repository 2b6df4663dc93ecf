#include "runtime/text/grammar/local_mask.h"

#include <algorithm>
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
      plain_(runs.get(trie, plain_run_class())),
      checks_(*machine_),
      automaton_(std::make_unique<Automaton>(machine_)) {
  // Here, because they take longer than a mask may.
  for (const RunClass& run : machine_->runs) runs_.push_back(runs.get(trie, run));
}

LocalMask LocalMasks::compute(StateId state) {
  if (automaton_->size() > kMaxAutomatonSets) {
    automaton_ = std::make_unique<Automaton>(machine_);
    depths_.clear();
  }
  const SetId start = automaton_->start(state);
  if (start == kDeadSet) return {};
  LocalMask mask;
  Tokens allowed(trie_.mask_words());
  if (checks_.decides(state)) {
    const MachineState& s = machine_->states[state];
    mask.run = runs_[static_cast<size_t>(s.run)];
    mask.run_characters = s.run_left;
    add_leaving(s, start, &allowed, &mask.exits);
  } else {
    add_by_class(start, &allowed, &mask.exits);
  }
  allowed.move_to(&mask);
  return mask;
}

// The tokens that leave the run of `state`.
void LocalMasks::add_leaving(const MachineState& state, SetId start, Tokens* allowed,
                             std::vector<uint32_t>* exits) {
  const auto run = static_cast<size_t>(state.run);
  std::vector<SetId> after{start};  // by the characters read
  for (const RunTokens::Leaving& leaving : runs_[run]->leaving()) {
    if (leaving.characters > state.run_left) continue;
    const auto characters = static_cast<size_t>(leaving.characters);
    while (after.size() <= characters) {
      after.push_back(after_character(machine_->runs[run], after.back()));
    }
    const SetId set = automaton_->step(after[characters], leaving.byte);
    if (set == kDeadSet) continue;
    for (uint32_t n : leaving.nodes) add_node(n, set, nullptr, allowed, exits);
  }
}

// Every character of the run leads there.
SetId LocalMasks::after_character(const RunClass& run, SetId set) {
  uint8_t inside = 0;
  do {
    auto byte = std::find_if(machine_->class_bytes.begin(), machine_->class_bytes.end(),
                             [&](uint8_t b) { return run.moves[inside][b] != RunClass::kDead; });
    set = automaton_->step(set, *byte);
    inside = run.moves[inside][*byte];
  } while (inside != 0);
  return set;
}

// The tokens at and below node `n`, which leads to `set`, except those of `known`, which are seen
// to.
void LocalMasks::add_node(uint32_t n, SetId set, const RunTokens* known, Tokens* allowed,
                          std::vector<uint32_t>* exits) {
  if (!known) trie_.tokens_at(n, [&](int32_t token) { allowed->allow(token); });
  if (trie_.nodes()[n].end == n + 1) return;
  if (automaton_->ended(set)) exits->push_back(n);
  add_below(n, set, known, allowed, exits);
}

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

// The texts of a class that may follow a place whatever they are.
struct LocalMasks::KnownText {
  const RunTokens* tokens = nullptr;
  std::vector<bool> bytes = std::vector<bool>(256);  // with which they may begin
  int characters = kMaxTokenBytes;                   // that they may have, at most
  size_t count = 0;                                  // of their tokens, long ones included
};

LocalMasks::KnownText LocalMasks::known_text(SetId start, const RunClass& text,
                                             const RunTokens& tokens) {
  constexpr int kShort = 16;      // most tokens have fewer characters
  constexpr size_t kMany = 1024;  // longer tokens, which are looked at one by one
  KnownText known{.tokens = &tokens};
  std::vector<int64_t> depths;  // by class of bytes: how many characters any text may have
  for (uint8_t byte : machine_->class_bytes) {
    const uint8_t open = text.moves[0][byte];
    const SetId set = open == RunClass::kDead ? kDeadSet : automaton_->step(start, byte);
    depths.push_back(set == kDeadSet ? 0 : text_depth(set, text, open));
  }
  for (size_t b = 0; b < 256; ++b) {
    const int64_t depth = depths[machine_->byte_class[b]];
    if (depth < kShort) continue;
    known.bytes[b] = true;
    known.characters = static_cast<int>(std::min<int64_t>(known.characters, depth));
    known.count += tokens.count(static_cast<uint8_t>(b));
  }
  if (tokens.longer(known.characters).size() > kMany) known.count = 0;
  return known;
}

// How many characters any text of the class may have that begins with a byte which led to `set` and
// left its character open so.
int64_t LocalMasks::text_depth(SetId set, const RunClass& text, uint8_t open) {
  constexpr int64_t kLong = 32;  // nearly all tokens have fewer characters
  auto [it, added] = depths_.try_emplace({&text, set, open}, 0);
  if (!added) return it->second;
  int64_t depth = kMaxTokenBytes;
  if (open == 0) {
    const int64_t more = automaton_->text_depth(set, text, kLong);
    if (more != kNoLimit) depth = more + 1;
  } else if (const auto after = automaton_->after_character(set, text, open)) {
    for (SetId next : *after) depth = std::min(depth, text_depth(next, text, 0));
  } else {
    depth = 0;
  }
  return depths_[{&text, set, open}] = depth;
}

// Where nearly any text of a class may follow, as in a key that must not be one of some names,
// behind the beginning of a tag or in a counted word: all of it, then a closer look at the tokens
// that are longer than what is known, and at those that are something else.
void LocalMasks::add_by_class(SetId start, Tokens* allowed, std::vector<uint32_t>* exits) {
  KnownText known;
  known.count = trie_.vocab_size() / 32;  // with fewer there is little to gain
  auto consider = [&](const RunClass& text, const RunTokens& tokens) {
    KnownText other = known_text(start, text, tokens);
    if (other.count > known.count) known = std::move(other);
  };
  consider(plain_run_class(), *plain_);
  for (size_t i = 0; i < runs_.size(); ++i) consider(machine_->runs[i], *runs_[i]);
  if (!known.tokens) return add_below(0, start, nullptr, allowed, exits);

  const RunTokens& tokens = *known.tokens;
  const std::span<uint32_t> words = allowed->words();
  const bool most = known.count > tokens.longer(0).size() / 2;
  if (most) tokens.add_to(words, known.characters);
  for_children(trie_, 0, [&](uint32_t child) {
    const uint8_t byte = trie_.nodes()[child].byte;
    const bool is_known = known.bytes[byte];
    if (is_known != most) {
      tokens.visit(byte, known.characters, [&](int32_t token) {
        is_known ? allow_token(words, token) : forbid_token(words, token);
      });
    }
    const SetId set = automaton_->step(start, byte);
    if (set != kDeadSet) add_node(child, set, is_known ? &tokens : nullptr, allowed, exits);
  });
  for (int32_t token : tokens.longer(known.characters)) {
    if (known.bytes[static_cast<uint8_t>(trie_.spelling(token)[0])])
      add_longer(token, start, tokens, allowed, exits);
  }
  std::sort(exits->begin(), exits->end());
  exits->erase(std::unique(exits->begin(), exits->end()), exits->end());
}

// A token of nothing but characters of a class, with the nodes on its way that add_node leaves out.
void LocalMasks::add_longer(int32_t token, SetId start, const RunTokens& known, Tokens* allowed,
                            std::vector<uint32_t>* exits) {
  const auto& nodes = trie_.nodes();
  uint32_t n = 0;
  SetId set = start;
  for (char c : trie_.spelling(token)) {
    const auto byte = static_cast<uint8_t>(c);
    set = automaton_->step(set, byte);
    if (set == kDeadSet) return;
    for (++n; nodes[n].byte != byte;) n = nodes[n].end;
    if (known.all_inside(n) && nodes[n].end > n + 1 && automaton_->ended(set)) exits->push_back(n);
  }
  allowed->allow(token);
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
