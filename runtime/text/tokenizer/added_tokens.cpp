#include "runtime/text/tokenizer/added_tokens.h"

#include <algorithm>

#include "runtime/text/tokenizer/tokenizer_json.h"
#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

// The end of the white space that starts at `at`.
size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    Character c = decode_front(text.substr(at));
    if (!is_white_space(c.code)) break;
    at += c.bytes;
  }
  return at;
}

// The start of the white space that ends at `at`, not before `limit`.
size_t skip_space_back(std::string_view text, size_t at, size_t limit) {
  while (at > limit) {
    Character c = decode_back(text.substr(limit, at - limit));
    if (!is_white_space(c.code)) break;
    at -= c.bytes;
  }
  return at;
}

bool inside_word(std::string_view text, size_t begin, size_t end) {
  bool before = begin > 0 && is_word(decode_back(text.substr(0, begin)).code);
  bool after = end < text.size() && is_word(decode_front(text.substr(end)).code);
  return before || after;
}

}  // namespace

bool AddedToken::blank() const {
  constexpr uint32_t kSpaceSymbol = 0x2581;  // what SentencePiece vocabularies write for a space
  std::string_view rest = content;
  while (!rest.empty()) {
    Character c = decode_front(rest);
    if (!is_white_space(c.code) && c.code != kSpaceSymbol) return false;
    rest.remove_prefix(c.bytes);
  }
  return true;
}

Result<AddedToken> read_added_token(const Json& entry, int64_t id, const std::string& what) {
  if (!entry.is_object()) return invalid_argument(what + " must be an object");
  if (id < 0 || id >= kMaxTokens) {
    return invalid_argument(what + ": the id must be from 0 to " + std::to_string(kMaxTokens - 1));
  }
  AddedToken t;
  t.id = static_cast<int32_t>(id);
  NMC_ASSIGN(t.content, json_string(entry, "content", what));
  if (t.content.empty() || t.content.size() > kMaxAddedToken) {
    return invalid_argument(what + ": the field \"content\" must have 1 to " +
                            std::to_string(kMaxAddedToken) + " bytes");
  }
  NMC_ASSIGN(t.special, json_bool(entry, "special", what, false));
  NMC_ASSIGN(t.single_word, json_bool(entry, "single_word", what, false));
  NMC_ASSIGN(t.lstrip, json_bool(entry, "lstrip", what, false));
  NMC_ASSIGN(t.rstrip, json_bool(entry, "rstrip", what, false));
  NMC_ASSIGN(t.normalized, json_bool(entry, "normalized", what, !t.special));
  return t;
}

Result<std::vector<AddedToken>> read_added_tokens(const Json& list) {
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  if (!list.is_array())
    return invalid_argument("tokenizer.json: the field \"added_tokens\" must be an array");
  for (size_t i = 0; i < list.size(); ++i) {
    std::string what = "tokenizer.json: " + element_name("added_tokens", i);
    NMC_ASSIGN(int64_t id, json_int(list[i], "id", what));
    NMC_ASSIGN(AddedToken token, read_added_token(list[i], id, what));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  for (const AddedToken& t : tokens_) {
    blank_.push_back(t.blank());
    starts_[static_cast<uint8_t>(t.content[0])] = true;
  }
  nodes_.emplace_back();
  build(0, 0, tokens_.size(), 0);
}

// Gives `node` its children: tokens_[begin, end) share their first `depth` bytes.
void AddedTokenMatcher::build(uint32_t node, size_t begin, size_t end, size_t depth) {
  struct Group {
    size_t begin, end;
  };
  std::vector<Group> groups;
  for (size_t i = begin; i < end; ++i) {
    const std::string& s = tokens_[i].content;
    if (s.size() == depth) {
      nodes_[node].token = static_cast<int32_t>(i);
    } else if (groups.empty() || tokens_[groups.back().begin].content[depth] != s[depth]) {
      groups.push_back({i, i + 1});
    } else {
      groups.back().end = i + 1;
    }
  }
  auto first = static_cast<uint32_t>(nodes_.size());
  nodes_[node].first_child = first;
  nodes_[node].children = static_cast<uint16_t>(groups.size());
  for (const Group& g : groups) {
    nodes_.emplace_back();
    nodes_.back().byte = static_cast<uint8_t>(tokens_[g.begin].content[depth]);
  }
  for (size_t i = 0; i < groups.size(); ++i)
    build(first + static_cast<uint32_t>(i), groups[i].begin, groups[i].end, depth + 1);
}

const AddedToken* AddedTokenMatcher::longest(std::string_view text, size_t at, size_t offset,
                                             const LiteralRanges& literal) const {
  const AddedToken* best = nullptr;
  const Node* node = &nodes_[0];
  for (size_t end = at; end < text.size();) {
    auto byte = static_cast<uint8_t>(text[end]);
    const Node* first = nodes_.data() + node->first_child;
    const Node* last = first + node->children;
    const Node* child =
        std::lower_bound(first, last, byte, [](const Node& n, uint8_t b) { return n.byte < b; });
    if (child == last || child->byte != byte) break;
    node = child;
    ++end;
    if (node->token < 0) continue;
    auto index = static_cast<size_t>(node->token);
    if (blank_[index] || !literal.touches(offset + at, offset + end)) best = &tokens_[index];
  }
  return best;
}

AddedTokenMatcher::Hit AddedTokenMatcher::find(std::string_view text, size_t from, size_t offset,
                                               const LiteralRanges& literal) const {
  for (size_t at = tokens_.empty() ? text.size() : from; at < text.size();) {
    if (!starts_[static_cast<uint8_t>(text[at])]) {
      ++at;
      continue;
    }
    const AddedToken* token = longest(text, at, offset, literal);
    if (!token) {
      ++at;
      continue;
    }
    size_t end = at + token->content.size();
    if (token->single_word && inside_word(text, at, end)) {
      at = end;
      continue;
    }
    size_t begin = token->lstrip ? skip_space_back(text, at, from) : at;
    if (token->rstrip) end = skip_space(text, end);
    return {begin, end, token->id};
  }
  return {0, 0, -1};
}

}  // namespace nmc::tok
