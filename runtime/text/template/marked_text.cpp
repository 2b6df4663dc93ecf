#include "runtime/text/template/marked_text.h"

#include <algorithm>
#include <cassert>

namespace nmc::jinja {

MarkedText MarkedText::literal(std::string bytes) {
  MarkedText text(std::move(bytes));
  if (!text.empty()) text.literal_.push_back({0, text.size()});
  return text;
}

void MarkedText::append(std::string_view bytes, bool literal) {
  if (bytes.empty()) return;
  if (literal) {
    if (!literal_.empty() && literal_.back().end == bytes_.size()) {
      literal_.back().end += bytes.size();
    } else {
      literal_.push_back({bytes_.size(), bytes_.size() + bytes.size()});
    }
  }
  bytes_.append(bytes);
}

void MarkedText::append(const MarkedText& other) {
  assert(&other != this);
  if (other.literal_.empty()) {
    append(other.bytes_);
  } else {
    other.for_each_run([&](std::string_view run, bool literal) { append(run, literal); });
  }
}

MarkedText MarkedText::slice(size_t begin, size_t end) const {
  assert(begin <= end && end <= bytes_.size());
  MarkedText part(bytes_.substr(begin, end - begin));
  auto span = std::lower_bound(literal_.begin(), literal_.end(), begin,
                               [](const TextSpan& s, size_t at) { return s.end <= at; });
  for (; span != literal_.end() && span->begin < end; ++span) {
    part.literal_.push_back(
        {std::max(span->begin, begin) - begin, std::min(span->end, end) - begin});
  }
  if (begin == end) part.literal_.clear();
  return part;
}

}  // namespace nmc::jinja
