// The form that a request asks its answer to have.
#pragma once

#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"

namespace nmc::api {

struct AnswerFormat {
  enum class Kind { kText, kObject, kSchema, kGrammar };

  Kind kind = Kind::kText;
  const char* field = "response_format";  // the request's
  Json schema{};                          // kSchema
  std::string where{};                    // its path in the request
  std::string grammar{};                  // kGrammar: in GBNF

  bool is_json() const { return kind == Kind::kObject || kind == Kind::kSchema; }
  // What decides the grammar.
  Json key() const { return {static_cast<int>(kind), schema, grammar}; }
};

// response_format, grammar and json_schema, of which a request may have one.
Result<AnswerFormat> parse_answer_format(const Json& body);

// Its texts; not for kText.
Result<ExprId> format_expression(GrammarBuilder& builder, const AnswerFormat& format);

}  // namespace nmc::api
