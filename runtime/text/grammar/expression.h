// Grammars as they are written down: rules over bytes, built from literals, classes, sequences,
// choices, repetitions and calls of other rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/text/grammar/byte_set.h"

namespace nmc {

using ExprId = uint32_t;
using RuleId = uint32_t;

inline constexpr int64_t kNoLimit = -1;

struct Expr {
  enum class Kind : uint8_t { kEmpty, kBytes, kSequence, kChoice, kRepeat, kCall, kNever };
  Kind kind = Kind::kEmpty;
  ByteSet bytes = {};                 // kBytes
  std::vector<ExprId> children = {};  // kSequence, kChoice; one for kRepeat
  int64_t min = 0, max = 0;           // kRepeat; max may be kNoLimit
  RuleId rule = 0;                    // kCall
};

// Collects expressions and rules. Expressions may be used in several places. Not thread-safe.
class GrammarBuilder {
 public:
  ExprId empty() { return add({}); }
  ExprId never() { return add({.kind = Expr::Kind::kNever}); }
  ExprId bytes(ByteSet set) { return add({.kind = Expr::Kind::kBytes, .bytes = set}); }
  ExprId literal(std::string_view text);
  ExprId sequence(std::vector<ExprId> parts);
  ExprId choice(std::vector<ExprId> options);
  ExprId repeat(ExprId what, int64_t min, int64_t max);
  ExprId optional(ExprId what) { return repeat(what, 0, 1); }
  ExprId call(RuleId rule) { return add({.kind = Expr::Kind::kCall, .rule = rule}); }

  // A rule may be called before it is defined; every declared rule must be defined in the end.
  RuleId declare(std::string name);
  void define(RuleId rule, ExprId body) { bodies_[rule] = body; }
  RuleId rule(std::string name, ExprId body);

  // Expressions by a name that says all they mean, so that they are made once.
  std::optional<ExprId> find(const std::string& name) const {
    auto it = known_.find(name);
    return it == known_.end() ? std::nullopt : std::optional(it->second);
  }
  void remember(std::string name, ExprId id) { known_[std::move(name)] = id; }

  const Expr& expr(ExprId id) const { return exprs_[id]; }
  size_t rule_count() const { return bodies_.size(); }
  ExprId body(RuleId rule) const { return bodies_[rule]; }
  const std::string& rule_name(RuleId rule) const { return names_[rule]; }

 private:
  ExprId add(Expr e) {
    exprs_.push_back(std::move(e));
    return static_cast<ExprId>(exprs_.size() - 1);
  }

  std::vector<Expr> exprs_;
  std::vector<ExprId> bodies_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, ExprId> known_;
};

// A closed range of Unicode code points.
struct CodePoints {
  uint32_t low = 0, high = 0;
};

// One UTF-8 encoded character out of `ranges` (any order, may overlap; surrogates are left out).
ExprId utf8_character(GrammarBuilder& b, std::vector<CodePoints> ranges);

// Reads one character of UTF-8 `text` (not at its end) and moves `at` behind it; one that the end
// cuts counts as what is there.
uint32_t next_code_point(std::string_view text, size_t* at);

// Reads `digits` hexadecimal digits and moves `at` behind them; empty, with `at` at the first
// character that is none, when there are fewer.
std::optional<uint32_t> next_hex(std::string_view text, size_t* at, size_t digits);

// `ranges` sorted, merged, without surrogates; and all other code points.
std::vector<CodePoints> normalized(std::vector<CodePoints> ranges);
std::vector<CodePoints> complement(std::vector<CodePoints> ranges);

}  // namespace nmc
