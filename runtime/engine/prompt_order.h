// Whose prompt is read next.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engine/sequence.h"

namespace nmc {

// Turn by turn the oldest reader and the one with the least left to read: a short request starts
// within two chunks however many long ones stand before it, and every reader becomes the oldest.
// One thread at a time.
class PromptOrder {
 public:
  // `readers`: not empty, oldest first.
  Sequence* next(const std::vector<Sequence*>& readers);

 private:
  bool oldest_ = true;
};

// A reader that will read pages with which `sequence` begins, and how far they agree, in whole
// pages; null: nobody does. `readers`: oldest first, `sequence` among them and not yet opened;
// `held`: tokens that it would find in the cache. Two sequences never wait for each other.
struct SharedReading {
  Sequence* reader = nullptr;
  int64_t tokens = 0;
};
SharedReading shared_reading(const Sequence& sequence, const std::vector<Sequence*>& readers,
                             int64_t held);

}  // namespace nmc
