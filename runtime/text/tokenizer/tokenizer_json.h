// Reads a tokenizer.json in one pass. The two big parts, `model.vocab` and `model.merges`, go
// straight into vectors (a document of 150,000 keys would take seconds to build and search); all
// the rest becomes a small document for the parts of the tokenizer to read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/text/tokenizer/vocabulary.h"

namespace nmc::tok {

struct TokenizerJson {
  Json rest;  // an object; "model" without its vocabulary and merges
  std::vector<Vocabulary::Entry> vocab;
  std::vector<std::pair<std::string, std::string>> merges;
  bool has_merges = false;  // there is a list, though it may be empty
};

// Bounds size, depth and element counts before they cost anything. Merges may be "a b" or
// ["a", "b"].
Result<TokenizerJson> read_tokenizer_json(std::string_view text);

// Components in components, as Sequences in Sequences.
inline constexpr int kMaxComponentNesting = 8;

// The "type" of a component such as {"type": "Split", ...}; `where` names it in the error.
Result<std::string> component_type(const Json& component, std::string_view where);

// The array `key` of `object`; absent or null is an error that names `where` and the key.
Result<const Json*> json_array(const Json& object, const char* key, std::string_view where);

// The elements of a component's list, each with its name for errors ("pre_tokenizer[2]").
std::string element_name(std::string_view where, size_t index);

}  // namespace nmc::tok
