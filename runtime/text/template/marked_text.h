// A string that knows which of its bytes a user wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/template/rendered_prompt.h"

namespace nmc::jinja {

// Invariant: `literal` is sorted, disjoint, non-empty, non-touching spans inside `bytes`. Every
// operation of the template language goes through append and slice, so the marks follow the bytes.
class MarkedText {
 public:
  MarkedText() = default;
  // Text of the template itself.
  explicit MarkedText(std::string bytes) : bytes_(std::move(bytes)) {}
  // Text of a user.
  static MarkedText literal(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::vector<TextSpan>& literal_spans() const { return literal_; }

  void append(std::string_view bytes, bool literal = false);
  void append(const MarkedText& other);
  MarkedText slice(size_t begin, size_t end) const;

  // Calls f(run, literal) for the maximal pieces of equal origin, in order.
  template <typename F>
  void for_each_run(F f) const {
    size_t at = 0;
    for (const TextSpan& span : literal_) {
      if (span.begin > at) f(std::string_view(bytes_).substr(at, span.begin - at), false);
      f(std::string_view(bytes_).substr(span.begin, span.end - span.begin), true);
      at = span.end;
    }
    if (at < bytes_.size()) f(std::string_view(bytes_).substr(at), false);
  }

  RenderedPrompt release() { return {std::move(bytes_), std::move(literal_)}; }

 private:
  std::string bytes_;
  std::vector<TextSpan> literal_;
};

}  // namespace nmc::jinja
