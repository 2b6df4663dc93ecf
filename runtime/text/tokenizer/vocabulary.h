// Token strings by id and ids by string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace nmc::tok {

// Ids are dense enough to index arrays; a file that claims a higher one is refused.
constexpr int64_t kMaxTokens = 1 << 22;

// Built once by `build`, then immutable and thread-safe. Owns its strings.
class Vocabulary {
 public:
  struct Entry {
    std::string text;
    int64_t id;
  };

  // Fails on an id out of range and on two strings with one id. `what` names the source.
  static Result<Vocabulary> build(std::vector<Entry> entries, std::string_view what);

  std::optional<int32_t> find(std::string_view text) const;
  // The string of an id; empty for an id without one.
  std::string_view text(int32_t id) const;
  // One more than the highest id.
  int32_t size() const { return static_cast<int32_t>(texts_.size()); }

 private:
  std::vector<std::string> texts_;
  std::vector<int32_t> slots_;  // open addressing over hashes of the strings; -1 is free
};

}  // namespace nmc::tok
