// The merges of a BPE model: a pair of ids to its rank and the id it becomes.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace nmc::tok {

// A flat hash table, the hottest memory of the encoder. Immutable after the last `set`.
class MergeTable {
 public:
  struct Merge {
    uint32_t rank;
    int32_t id;
  };

  explicit MergeTable(size_t count = 0) : slots_(std::bit_ceil(count * 2 + 2)) {}

  // A pair that is set again keeps its last rank. At most as many pairs as the constructor's count.
  void set(int32_t left, int32_t right, Merge merge) {
    Slot& slot = slots_[place(key(left, right))];
    slot = {key(left, right), merge};
  }

  // Null when the pair does not merge.
  const Merge* find(int32_t left, int32_t right) const {
    const Slot& slot = slots_[place(key(left, right))];
    return slot.key == kFree ? nullptr : &slot.merge;
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // ids are not negative, so no pair has this key
  struct Slot {
    uint64_t key = kFree;
    Merge merge{};
  };

  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  // The slot of a key, or the free one where it would go.
  size_t place(uint64_t k) const {
    size_t mask = slots_.size() - 1;
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    size_t at = (k * 0x9e3779b97f4a7c15) >> 32 & mask;
    while (slots_[at].key != k && slots_[at].key != kFree) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;
};

}  // namespace nmc::tok
