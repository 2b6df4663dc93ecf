// The added tokens of a tokenizer.json: strings that are one id whatever stands around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/text/tokenizer/literal_ranges.h"

namespace nmc::tok {

// Bounds the depth of the matcher's trie.
constexpr size_t kMaxAddedToken = 1024;

struct AddedToken {
  int32_t id;
  std::string content;
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool normalized = false;   // looked for after normalization, not before
  bool special = false;

  // White space alone: such a token is no marker.
  bool blank() const;
};

// One entry of a list of added tokens; `what` names it in errors.
Result<AddedToken> read_added_token(const Json& entry, int64_t id, const std::string& what);

// Reads the list of a tokenizer.json; null is an empty one.
Result<std::vector<AddedToken>> read_added_tokens(const Json& list);

// Finds a set of added tokens in text: leftmost first, of several the longest. Immutable,
// thread-safe.
class AddedTokenMatcher {
 public:
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  struct Hit {
    size_t begin, end;  // with the white space it takes
    int32_t id;
  };

  // The first hit at or after `from`; nothing (end of 0) if there is none. `offset` is where
  // `text` lies in the text that `literal` speaks of. A token that touches literal bytes is text,
  // unless it is white space alone.
  Hit find(std::string_view text, size_t from, size_t offset, const LiteralRanges& literal) const;

 private:
  // One step of the trie: the children of a node stand together, sorted by byte.
  struct Node {
    uint32_t first_child = 0;
    uint16_t children = 0;
    uint8_t byte = 0;
    int32_t token = -1;  // index into tokens_
  };
  const AddedToken* longest(std::string_view text, size_t at, size_t offset,
                            const LiteralRanges& literal) const;
  void build(uint32_t node, size_t begin, size_t end, size_t depth);

  std::vector<AddedToken> tokens_;  // sorted by content
  std::vector<uint8_t> blank_;      // white space alone, as tokens_
  std::vector<Node> nodes_;         // [0] is the root
  bool starts_[256] = {};           // first bytes of any token
};

}  // namespace nmc::tok
