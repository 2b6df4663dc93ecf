#include "runtime/engine/engine_choice.h"

#include "runtime/cache/kv_layout.h"

namespace nmc {
namespace {

// The hashes of a prompt's whole pages, in order.
std::vector<PageHash> pages_of(std::span<const int32_t> prompt) {
  constexpr auto kPage = static_cast<size_t>(kPageTokens);
  std::vector<PageHash> pages;
  PageHash hash;
  for (; prompt.size() >= kPage; prompt = prompt.subspan(kPage)) {
    hash = hash_page(hash, prompt.first(kPage));
    pages.push_back(hash);
  }
  return pages;
}

bool has_free_slot(const EngineLoad& load) {
  return load.healthy && load.requests < load.slots;
}

}  // namespace

std::optional<size_t> EngineChoice::choose(const std::string& session,
                                           std::span<const int32_t> prompt,
                                           const std::vector<EngineLoad>& loads) {
  const std::vector<PageHash> pages = pages_of(prompt);
  std::lock_guard lock(mutex_);
  chosen_at_.resize(loads.size());
  const std::optional<size_t> free = least_busy(loads);
  if (!free) return std::nullopt;
  size_t chosen = *free;
  const std::optional<size_t> known = known_place(session, pages);
  if (known && *known < loads.size() && loads[*known].healthy &&
      (has_free_slot(loads[*known]) || !has_free_slot(loads[*free]))) {
    chosen = *known;
  }
  chosen_at_[chosen] = ++choices_;
  if (!session.empty()) sessions_.set(session, chosen);
  for (const PageHash& page : pages) prefixes_.set(page, chosen);
  return chosen;
}

std::optional<size_t> EngineChoice::known_place(const std::string& session,
                                                const std::vector<PageHash>& pages) const {
  if (!session.empty()) {
    if (auto place = sessions_.find(session)) return place;
  }
  for (auto page = pages.rbegin(); page != pages.rend(); ++page) {
    if (auto place = prefixes_.find(*page)) return place;
  }
  return std::nullopt;
}

std::optional<size_t> EngineChoice::least_busy(const std::vector<EngineLoad>& loads) const {
  std::optional<size_t> best;
  for (size_t i = 0; i < loads.size(); ++i) {
    if (!loads[i].healthy) continue;
    // Engines may have different numbers of slots: their fill counts.
    const auto fill = [&](size_t e) {
      return static_cast<double>(loads[e].requests) / static_cast<double>(loads[e].slots);
    };
    if (!best || fill(i) < fill(*best) ||
        (fill(i) == fill(*best) && chosen_at_[i] < chosen_at_[*best])) {
      best = i;
    }
  }
  return best;
}

}  // namespace nmc
