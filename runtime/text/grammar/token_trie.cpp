#include "runtime/text/grammar/token_trie.h"

#include <algorithm>
#include <numeric>

#include "runtime/text/grammar/machine.h"
#include "runtime/text/grammar/plain_text.h"

namespace nmc {

std::string special_spelling(int32_t token) {
  auto id = static_cast<uint32_t>(token);
  return {'\xff', static_cast<char>(id >> 16), static_cast<char>(id >> 8), static_cast<char>(id)};
}

TokenTrie::TokenTrie(std::span<const std::string> spellings)
    : spellings_(spellings.begin(), spellings.end()) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < spellings_.size(); ++i) {
    size_t n = spellings_[i].size();
    if (n > 0 && n <= static_cast<size_t>(kMaxTokenBytes)) order.push_back(static_cast<int32_t>(i));
  }
  // Sorted spellings visit the tree depth first.
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return spelling(a) < spelling(b); });

  std::vector<uint32_t> path{0};  // nodes from the root to the current one
  nodes_.push_back({0, 0, 0, false});
  auto close = [&](size_t depth) {
    for (; path.size() > depth + 1; path.pop_back()) {
      nodes_[path.back()].end = static_cast<uint32_t>(nodes_.size());
    }
  };
  std::string_view previous;
  for (int32_t token : order) {
    std::string_view text = spelling(token);
    size_t common = static_cast<size_t>(
        std::mismatch(text.begin(), text.end(), previous.begin(), previous.end()).first -
        text.begin());
    if (text != previous) {
      close(common);
      for (size_t i = common; i < text.size(); ++i) {
        path.push_back(static_cast<uint32_t>(nodes_.size()));
        nodes_.push_back(
            {0, static_cast<uint32_t>(tokens_.size()), static_cast<uint8_t>(text[i]), false});
      }
    }
    tokens_.push_back(token);
    previous = text;
  }
  close(0);
  nodes_[0].end = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({0, static_cast<uint32_t>(tokens_.size()), 0, false});
  mark_plain();
}

// From the leaves up: bit s of `fine` is set when all that follows a node is plain if a character
// is open there as s says.
void TokenTrie::mark_plain() {
  std::vector<uint8_t> fine(nodes_.size());
  for (size_t n = nodes_.size() - 1; n-- > 0;) {
    fine[n] = 0xff;
    for (uint32_t child = static_cast<uint32_t>(n) + 1; child < nodes_[n].end;
         child = nodes_[child].end) {
      bool token_ends = nodes_[child].first_token < nodes_[child + 1].first_token;
      for (int s = 0; s < kPlainStates; ++s) {
        PlainState next = next_plain(static_cast<PlainState>(s), nodes_[child].byte);
        bool ok = next != PlainState::kInvalid && (next == PlainState::kBoundary || !token_ends) &&
                  (fine[child] >> static_cast<int>(next) & 1);
        if (!ok) fine[n] = static_cast<uint8_t>(fine[n] & ~(1 << s));
      }
    }
    nodes_[n].plain_below = fine[n] & 1;
  }
}

}  // namespace nmc
