// Which of several engines a request goes to.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cache/page_hash.h"

namespace nmc {

// How busy an engine is.
struct EngineLoad {
  int64_t requests = 0;  // that run or wait
  int64_t slots = 1;     // requests that can run at once
  bool healthy = true;
};

// Remembers, for the last requests, where their session and each page of their prompt went, and so
// where a prompt's beginning is most likely cached. A hint: a wrong one costs time, never a token.
// Thread-safe.
class EngineChoice {
 public:
  // `pages`: page hashes to remember, about what the engines' caches hold together.
  explicit EngineChoice(size_t pages) : prefixes_(pages), sessions_(kSessions) {}

  // The engine for a request, of those in `loads` that are healthy; nothing when none is. In this
  // order: where its session was; where the longest run of its prompt's pages was; the least
  // busy, of equals the one chosen longest ago. A request does not queue up for its prefix: where
  // all slots are taken and another engine has one free, the least busy one reads the prompt anew.
  std::optional<size_t> choose(const std::string& session, std::span<const int32_t> prompt,
                               const std::vector<EngineLoad>& loads);

 private:
  static constexpr size_t kSessions = 4096;

  // A map that forgets what was not used for longest.
  template <typename Key, typename Hash = std::hash<Key>>
  class Memory {
   public:
    explicit Memory(size_t most) : most_(most) {}
    std::optional<size_t> find(const Key& key) const {
      auto it = places_.find(key);
      if (it == places_.end()) return std::nullopt;
      return it->second->second;
    }
    void set(const Key& key, size_t engine) {
      if (auto it = places_.find(key); it != places_.end()) {
        it->second->second = engine;
        entries_.splice(entries_.begin(), entries_, it->second);
        return;
      }
      entries_.emplace_front(key, engine);
      places_[key] = entries_.begin();
      if (entries_.size() <= most_) return;
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }

   private:
    size_t most_;
    std::list<std::pair<Key, size_t>> entries_;  // the last used first
    std::unordered_map<Key, typename std::list<std::pair<Key, size_t>>::iterator, Hash> places_;
  };
  struct HashOfPage {
    size_t operator()(const PageHash& hash) const { return hash.low; }
  };

  std::optional<size_t> known_place(const std::string& session,
                                    const std::vector<PageHash>& pages) const;
  std::optional<size_t> least_busy(const std::vector<EngineLoad>& loads) const;

  std::mutex mutex_;
  // All guarded by mutex_.
  Memory<PageHash, HashOfPage> prefixes_;
  Memory<std::string> sessions_;
  std::vector<uint64_t> chosen_at_;  // [engines]: number of the last choice
  uint64_t choices_ = 0;
};

}  // namespace nmc
