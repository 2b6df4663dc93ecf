#include "runtime/text/grammar/run_tokens.h"

#include <algorithm>
#include <map>

#include "runtime/text/grammar/machine.h"

namespace nmc {
namespace {

constexpr size_t kMasks = 25;  // few tokens have more characters than 24

constexpr size_t kMaxClasses = 16;  // kept by a cache

void set_bit(std::span<uint32_t> mask, int32_t token) {
  mask[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32);
}

}  // namespace

RunTokens::RunTokens(const TokenTrie& trie, const RunClass& run_class) {
  const auto& nodes = trie.nodes();
  flags_.resize(nodes.size());
  std::vector<std::vector<int32_t>> by_characters(kMaxTokenBytes + 1);
  struct Level {
    uint32_t node;
    uint8_t state;
    size_t characters;  // begun
  };
  std::vector<Level> path{{0, 0, 0}};
  std::map<std::pair<uint8_t, size_t>, std::vector<uint32_t>> leaving;
  flags_[0] = kInside;
  for (uint32_t n = 1; n + 1 < nodes.size();) {
    while (n >= nodes[path.back().node].end) path.pop_back();
    const Level& above = path.back();
    const uint8_t state = run_class.moves[above.state][nodes[n].byte];
    if (state == RunClass::kDead) {
      if (above.state == 0) leaving[{nodes[n].byte, above.characters}].push_back(n);
      for (size_t i = path.size(); i-- > 0 && flags_[path[i].node] == kInside;)
        flags_[path[i].node] |= kOthersBelow;
      n = nodes[n].end;
      continue;
    }
    flags_[n] = kInside;
    path.push_back({n, state, above.characters + (above.state == 0)});
    trie.tokens_at(n,
                   [&](int32_t token) { by_characters[path.back().characters].push_back(token); });
    ++n;
  }
  for (auto& [key, left] : leaving) {
    leaving_.push_back({key.first, static_cast<int>(key.second), std::move(left)});
  }
  std::vector<uint32_t> mask(trie.mask_words());
  for (const auto& tokens : by_characters) {
    for (int32_t token : tokens) set_bit(mask, token);
    for (int32_t token : tokens) {
      by_byte_[static_cast<uint8_t>(trie.spelling(token)[0])].push_back(
          {token, static_cast<int>(up_to_.size())});
    }
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    up_to_.push_back(static_cast<uint32_t>(tokens_.size()));
    if (masks_.size() < kMasks) masks_.push_back(mask);
  }
  masks_.push_back(mask);
}

void RunTokens::add_to(std::span<uint32_t> mask, int characters) const {
  const auto count = static_cast<size_t>(std::min<int64_t>(characters, kMaxTokenBytes));
  const bool all = count == up_to_.size() - 1;
  const auto& words = all ? masks_.back() : masks_[std::min(count, kMasks - 1)];
  for (size_t i = 0; i < words.size(); ++i) mask[i] |= words[i];
  if (all) return;
  for (uint32_t i = up_to_[kMasks - 1]; i < up_to_[count]; ++i) set_bit(mask, tokens_[i]);
}

std::shared_ptr<const RunTokens> RunTokensCache::get(const TokenTrie& trie,
                                                     const RunClass& run_class) {
  const std::string key = run_class.key();
  std::lock_guard lock(mutex_);
  auto it = std::find_if(kept_.begin(), kept_.end(), [&](auto& e) { return e.first == key; });
  if (it != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, it);
  } else {
    kept_.emplace_front(key, std::make_shared<const RunTokens>(trie, run_class));
    if (kept_.size() > kMaxClasses) kept_.pop_back();
  }
  return kept_.front().second;
}

}  // namespace nmc
