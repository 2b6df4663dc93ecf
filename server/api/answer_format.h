// The form that a request asks its answer to have.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"

namespace nmc::api {

struct AnswerFormat {
  enum class Kind { kText, kObject, kSchema, kGrammar, kPattern, kChoice };

  Kind kind = Kind::kText;
  std::string where{};                 // the path of the field that asks for it
  Json schema{};                       // kSchema
  std::string text{};                  // kGrammar: in GBNF; kPattern: a regular expression
  std::vector<std::string> choices{};  // kChoice

  bool is_json() const { return kind == Kind::kObject || kind == Kind::kSchema; }
  // What decides the grammar.
  Json key() const { return {static_cast<int>(kind), schema, text, choices}; }
};

// response_format, grammar and json_schema, and what vLLM calls structured_outputs, or guided_json,
// guided_regex, guided_choice and guided_grammar. A request may have one of them.
Result<AnswerFormat> parse_answer_format(const Json& body);

// Its texts; not for kText.
Result<ExprId> format_expression(GrammarBuilder& builder, const AnswerFormat& format);

}  // namespace nmc::api
