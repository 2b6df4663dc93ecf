// Texts of so many characters.
#pragma once

#include <optional>
#include <string>

#include "runtime/text/grammar/expression.h"

namespace nmc {

inline constexpr int64_t kMaxTextLength = int64_t{1} << 23;

// `min` (at most kMaxCountedMin) to `max` (kNoLimit, or at most kMaxTextLength) times `character`,
// then `closing`, which begins none. `name` says what the two are: long ones share rules.
inline constexpr int64_t kMaxCountedMin = 8192;
ExprId counted_text(GrammarBuilder& b, const std::string& name, ExprId character, int64_t min,
                    int64_t max, ExprId closing);

// All that a pattern such as ^[a-z]{1,8}$ asks for.
struct CountedClass {
  std::vector<CodePoints> characters;
  int64_t min = 1, max = 1;  // max may be kNoLimit

  // What both ask for.
  CountedClass operator&(const CountedClass& other) const;
  std::string pattern() const;
};

}  // namespace nmc
