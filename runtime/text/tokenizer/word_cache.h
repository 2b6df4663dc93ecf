// Remembers the ids of short words: most of any text is words that came before.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace nmc::tok {

// A direct-mapped table of one cache line per word; a word that maps to a taken place replaces
// it. Not thread-safe.
class WordCache {
 public:
  static constexpr size_t kMaxWord = 24;
  static constexpr size_t kMaxIds = 9;

  // The place of a word. `word` has at most kMaxWord bytes.
  struct alignas(64) Slot {
    uint64_t key[kMaxWord / 8];  // the word, padded with zeros
    int32_t ids[kMaxIds];
    uint8_t length;  // of the word; 0 when the place is free
    uint8_t count;   // of the ids
  };
  static_assert(sizeof(Slot) == 64);

  WordCache() : slots_(kSlots) {}

  // The place where `word` is or would go. It holds the word if `hit`.
  Slot& lookup(std::string_view word, bool& hit) {
    uint64_t key[kMaxWord / 8] = {};
    std::memcpy(key, word.data(), word.size());
    uint64_t h = (key[0] ^ word.size()) * 0x9e3779b97f4a7c15;
    h = (h ^ h >> 29 ^ key[1]) * 0xbf58476d1ce4e5b9;
    h = (h ^ h >> 32 ^ key[2]) * 0x94d049bb133111eb;
    Slot& slot = slots_[h >> (64 - kBits)];
    hit = slot.length == word.size() && std::memcmp(slot.key, key, sizeof key) == 0;
    if (!hit) {
      std::memcpy(slot.key, key, sizeof key);
      slot.length = 0;
    }
    return slot;
  }

  // Fills the place that `lookup` returned for `word`, if the ids fit.
  static void fill(Slot& slot, std::string_view word, std::span<const int32_t> ids) {
    if (ids.size() > kMaxIds) return;
    std::memcpy(slot.ids, ids.data(), ids.size_bytes());
    slot.count = static_cast<uint8_t>(ids.size());
    slot.length = static_cast<uint8_t>(word.size());
  }

 private:
  static constexpr int kBits = 15;  // 2 MiB
  static constexpr size_t kSlots = size_t{1} << kBits;
  std::vector<Slot> slots_;
};

}  // namespace nmc::tok
