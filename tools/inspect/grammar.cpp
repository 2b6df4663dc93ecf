#include "tools/inspect/grammar.h"

#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/schema.h"

namespace nmc {
namespace {

// The bytes around a place, as JSON: no byte of a file reaches a terminal as it is.
std::string quote(const std::string& text, size_t from, size_t count) {
  return dump_json(Json(text.substr(from, count)));
}

}  // namespace

Result<std::shared_ptr<Grammar>> compile_schema(
    const Json& schema, std::shared_ptr<const GrammarVocabulary> vocabulary) {
  GrammarBuilder builder;
  const JsonRules rules(builder);
  NMC_ASSIGN(const ExprId root, schema_expression(builder, rules, schema, "schema"));
  auto grammar = Grammar::compile(builder, builder.rule("root", root), std::move(vocabulary));
  if (!grammar.ok()) return grammar.status().with_context("schema");
  return grammar;
}

Status accepts_text(const std::shared_ptr<Grammar>& grammar, const std::string& text) {
  GrammarMatcher matcher(grammar);
  const size_t taken = matcher.accept_bytes(text);
  constexpr size_t kShown = 20;
  const std::string before =
      taken == 0 ? "at the start"
                 : "after " + quote(text, taken - std::min(taken, kShown), std::min(taken, kShown));
  if (taken < text.size()) {
    return invalid_argument("byte " + std::to_string(taken) + ", " + quote(text, taken, 1) +
                            ", cannot follow " + before);
  }
  if (!matcher.can_end()) {
    return invalid_argument("the text must not end yet: byte " + std::to_string(taken) +
                            " is missing " + before);
  }
  return {};
}

}  // namespace nmc
