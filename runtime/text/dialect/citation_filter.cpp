#include "runtime/text/dialect/citation_filter.h"

#include <utility>

namespace nmc {

// "<co" or "</co", then '>' or ':' and a list of sources.
bool CitationFilter::may_become_tag() const {
  constexpr size_t kLongest = 512;  // bytes of a tag
  const std::string_view held = held_;
  const std::string_view name = held.starts_with("</") ? "</co" : "<co";
  if (held.size() <= name.size()) return name.starts_with(held);
  if (!held.starts_with(name) || held.size() > kLongest) return false;
  std::string_view rest = held.substr(name.size());
  if (rest == ">") return true;
  if (rest[0] != ':') return false;
  if (rest.ends_with('>')) rest.remove_suffix(1);
  return rest.find_first_not_of("0123456789:,[] ") == std::string_view::npos;
}

std::string CitationFilter::pass(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (held_.empty() && c != '<') {
      out += c;
      continue;
    }
    held_ += c;
    if (!may_become_tag()) {
      // A '<' may begin the next one.
      held_.pop_back();
      out += std::exchange(held_, {});
      (c == '<' ? held_ : out) += c;
    } else if (is_tag()) {
      held_.clear();
    }
  }
  return out;
}

std::string CitationFilter::finish() {
  return std::exchange(held_, {});
}

}  // namespace nmc
