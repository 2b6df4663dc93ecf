// What is known of each id: its bytes and its flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nmc::tok {

// Filled once, then immutable and thread-safe. Owns the bytes.
class TokenTable {
 public:
  // Gives an id its bytes; the table grows to hold it. `id` is not negative.
  void set(int32_t id, std::string bytes) { at(id).bytes = std::move(bytes); }
  void set_added(int32_t id, bool special) {
    at(id).added = true;
    at(id).special = special;
  }

  int32_t size() const { return static_cast<int32_t>(entries_.size()); }
  std::string_view bytes(int32_t id) const {
    return has(id) ? std::string_view(entries_[static_cast<size_t>(id)].bytes) : "";
  }
  bool is_added(int32_t id) const { return has(id) && entries_[static_cast<size_t>(id)].added; }
  bool is_special(int32_t id) const { return has(id) && entries_[static_cast<size_t>(id)].special; }

 private:
  struct Entry {
    std::string bytes;
    bool added = false, special = false;
  };
  bool has(int32_t id) const { return id >= 0 && id < size(); }
  Entry& at(int32_t id) {
    if (!has(id)) entries_.resize(static_cast<size_t>(id) + 1);
    return entries_[static_cast<size_t>(id)];
  }

  std::vector<Entry> entries_;
};

}  // namespace nmc::tok
