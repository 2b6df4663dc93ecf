// Shared by the grammar tests: a small vocabulary, and random texts drawn through masks.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/json_rules.h"

namespace nmc {

// Every single byte (ids 0 to 255), some longer pieces, one special token and one end token.
std::shared_ptr<const GrammarVocabulary> test_vocabulary();
inline constexpr int32_t kTestEnd = 0x1000;      // id of the end token
inline constexpr int32_t kTestSpecial = 0x1001;  // id of a special token

// A grammar from what `build` returns as its root expression.
template <typename Build>
std::shared_ptr<Grammar> make_grammar(const Build& build) {
  GrammarBuilder b;
  JsonRules rules(b);
  ExprId root = build(b, rules);
  auto grammar = Grammar::compile(b, b.rule("root", root), test_vocabulary());
  return grammar.ok() ? *grammar : nullptr;
}

// True when the whole text fits.
bool accepts(const std::shared_ptr<Grammar>& grammar, std::string_view text);

// The mask behind `text`: as it is made, and by its definition, trying every token.
std::vector<uint32_t> mask_after(const std::shared_ptr<Grammar>& grammar, std::string_view text);
std::vector<uint32_t> mask_by_definition(const std::shared_ptr<Grammar>& grammar,
                                         std::string_view text);

// Draws allowed tokens until the text may end; after `patience` tokens it prefers the shortest way
// out. Checks on the way that the mask and accept_token agree. Returns the text.
std::string random_text(const std::shared_ptr<Grammar>& grammar, std::mt19937& random,
                        int patience);

}  // namespace nmc
