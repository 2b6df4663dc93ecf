#include "runtime/text/tokenizer/vocabulary.h"

#include <algorithm>
#include <bit>

#include "runtime/base/hash.h"

namespace nmc::tok {

Result<Vocabulary> Vocabulary::build(std::vector<Entry> entries, std::string_view what) {
  int64_t highest = -1;
  for (const Entry& e : entries) {
    if (e.id < 0 || e.id >= kMaxTokens) {
      return invalid_argument(std::string(what) + ": the token \"" + e.text + "\" has the id " +
                              std::to_string(e.id) + "; ids run from 0 to " +
                              std::to_string(kMaxTokens - 1));
    }
    highest = std::max(highest, e.id);
  }
  Vocabulary v;
  v.texts_.resize(static_cast<size_t>(highest + 1));
  v.slots_.assign(std::bit_ceil(entries.size() * 2 + 2), -1);
  for (Entry& e : entries) {
    std::string& place = v.texts_[static_cast<size_t>(e.id)];
    if (!place.empty()) {
      return invalid_argument(std::string(what) + ": the tokens \"" + place + "\" and \"" + e.text +
                              "\" have the same id " + std::to_string(e.id));
    }
    place = std::move(e.text);
    size_t mask = v.slots_.size() - 1;
    size_t at = xxh3_64(place.data(), place.size()) & mask;
    // Of a string that is listed twice the later id counts, as with any repeated JSON key.
    while (v.slots_[at] >= 0 && v.text(v.slots_[at]) != place) at = (at + 1) & mask;
    v.slots_[at] = static_cast<int32_t>(e.id);
  }
  return v;
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  size_t mask = slots_.size() - 1;
  size_t at = xxh3_64(text.data(), text.size()) & mask;
  for (; slots_[at] >= 0; at = (at + 1) & mask) {
    if (texts_[static_cast<size_t>(slots_[at])] == text) return slots_[at];
  }
  return std::nullopt;
}

std::string_view Vocabulary::text(int32_t id) const {
  if (id < 0 || id >= size()) return {};
  return texts_[static_cast<size_t>(id)];
}

}  // namespace nmc::tok
