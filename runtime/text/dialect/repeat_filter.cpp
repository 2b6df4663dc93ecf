#include "runtime/text/dialect/repeat_filter.h"

#include <utility>

#include "runtime/text/dialect/text_block.h"

namespace nmc {

void RepeatFilter::watch() {
  said_.erase(said_.find_last_not_of(kBlanks) + 1);
  said_.erase(0, said_.find_first_not_of(kBlanks));
  watching_ = !said_.empty();
}

std::string RepeatFilter::pass(std::string_view text) {
  if (!watching_) return std::string(text);
  held_ += text;
  for (char c : text) {
    const bool at_an_end = same_ == 0 || same_ == said_.size();
    if (same_ < said_.size() && c == said_[same_]) {
      ++same_;
    } else if (!at_an_end || kBlanks.find(c) == std::string_view::npos) {
      watching_ = false;
      return std::exchange(held_, {});
    }
  }
  return {};
}

std::string RepeatFilter::finish(bool cut) {
  const bool repeated = watching_ && (cut || same_ == said_.size());
  std::string rest = repeated ? std::string() : std::move(held_);
  reset();
  return rest;
}

}  // namespace nmc
