// Citations in grounded answers of Cohere's models: <co>text</co: 0:[1,2]>, earlier <co: 0>...</co:
// 0>.
#pragma once

#include <string>
#include <string_view>

namespace nmc {

// Takes the tags out and leaves the text between them. What only begins like a tag, such as
// <completion>, is text. A tag may come in pieces. Not thread-safe.
class CitationFilter {
 public:
  std::string pass(std::string_view text);
  // What was held back, at the end of a block.
  std::string finish();

 private:
  // Whether more may make it a tag, and whether it is one.
  bool may_become_tag() const;
  bool is_tag() const { return held_.ends_with('>'); }

  std::string held_;  // from a '<' on
};

}  // namespace nmc
