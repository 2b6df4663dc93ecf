// A prompt as text, and which of its bytes a user wrote.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nmc {

// Bytes [begin, end) of a text.
struct TextSpan {
  size_t begin = 0;
  size_t end = 0;

  bool operator==(const TextSpan&) const = default;
};

// `literal` are the bytes that came from the variables of a rendering (messages, tools, documents)
// and not from the template: sorted, disjoint, never empty, never touching. A special token may be
// recognised only where it overlaps none of them, so a marker that a user typed stays plain text.
struct RenderedPrompt {
  std::string text;
  std::vector<TextSpan> literal;
};

}  // namespace nmc
