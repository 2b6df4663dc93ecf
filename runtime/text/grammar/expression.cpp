#include "runtime/text/grammar/expression.h"

namespace nmc {

ExprId GrammarBuilder::literal(std::string_view text) {
  std::vector<ExprId> parts;
  for (char c : text) parts.push_back(bytes(ByteSet::of({&c, 1})));
  return sequence(std::move(parts));
}

ExprId GrammarBuilder::sequence(std::vector<ExprId> parts) {
  if (parts.empty()) return empty();
  if (parts.size() == 1) return parts[0];
  return add({.kind = Expr::Kind::kSequence, .children = std::move(parts)});
}

ExprId GrammarBuilder::choice(std::vector<ExprId> options) {
  if (options.empty()) return never();
  if (options.size() == 1) return options[0];
  return add({.kind = Expr::Kind::kChoice, .children = std::move(options)});
}

ExprId GrammarBuilder::repeat(ExprId what, int64_t min, int64_t max) {
  if (min == 1 && max == 1) return what;
  return add({.kind = Expr::Kind::kRepeat, .children = {what}, .min = min, .max = max});
}

RuleId GrammarBuilder::declare(std::string name) {
  bodies_.push_back(never());
  names_.push_back(std::move(name));
  return static_cast<RuleId>(bodies_.size() - 1);
}

RuleId GrammarBuilder::rule(std::string name, ExprId body) {
  RuleId id = declare(std::move(name));
  define(id, body);
  return id;
}

}  // namespace nmc
