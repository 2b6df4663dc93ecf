#include "server/api/answer_format.h"

#include "runtime/text/grammar/gbnf.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/schema.h"
#include "server/api/fields.h"

namespace nmc::api {
namespace {

Result<AnswerFormat> schema_format(const Json& schema, const std::string& where) {
  if (!schema.is_object()) return must_be(where, "a JSON Schema, as an object");
  return AnswerFormat{.kind = AnswerFormat::Kind::kSchema, .schema = schema, .where = where};
}

Result<AnswerFormat> parse_response_format(const Json& format) {
  if (!format.is_object()) return must_be("response_format", "an object");
  Json type = field(format, "type");
  if (type == "text") return AnswerFormat{};
  if (type == "json_object") {
    Json schema = field(format, "schema");
    if (!schema.is_null()) return schema_format(schema, "response_format.schema");
    return AnswerFormat{.kind = AnswerFormat::Kind::kObject};
  }
  if (type != "json_schema") {
    return must_be("response_format.type", "\"text\", \"json_object\" or \"json_schema\"");
  }
  Json named = field(format, "json_schema");
  if (!named.is_object()) return must_be("response_format.json_schema", "an object");
  return schema_format(field(named, "schema"), "response_format.json_schema.schema");
}

}  // namespace

Result<AnswerFormat> parse_answer_format(const Json& body) {
  AnswerFormat format;
  Json response_format = field(body, "response_format"), schema = field(body, "json_schema"),
       grammar = field(body, "grammar");
  if (!response_format.is_null()) {
    NMC_ASSIGN(format, parse_response_format(response_format));
  }
  int given = (format.kind != AnswerFormat::Kind::kText) + !schema.is_null() + !grammar.is_null();
  if (given > 1) {
    return invalid_argument(
        "request: only one of the fields \"response_format\", \"json_schema\" and \"grammar\" can "
        "be enforced");
  }
  if (!schema.is_null()) {
    NMC_ASSIGN(format, schema_format(schema, "json_schema"));
    format.field = "json_schema";
    return format;
  }
  if (grammar.is_null()) return format;
  if (!grammar.is_string() || grammar == "") return must_be("grammar", "a grammar, as text");
  return AnswerFormat{.kind = AnswerFormat::Kind::kGrammar,
                      .field = "grammar",
                      .grammar = grammar.get<std::string>()};
}

Result<ExprId> format_expression(GrammarBuilder& builder, const AnswerFormat& format) {
  if (format.kind == AnswerFormat::Kind::kGrammar) {
    auto root = parse_gbnf(builder, format.grammar);
    if (!root.ok()) return root.status().with_context("request: the field \"grammar\"");
    return builder.call(*root);
  }
  JsonRules json(builder);
  if (format.kind == AnswerFormat::Kind::kObject) return json.object();
  return schema_expression(builder, json, format.schema, format.where);
}

}  // namespace nmc::api
