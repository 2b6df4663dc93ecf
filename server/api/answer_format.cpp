#include "server/api/answer_format.h"

#include <algorithm>

#include "runtime/text/chat/request_fields.h"
#include "runtime/text/grammar/choice.h"
#include "runtime/text/grammar/gbnf.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/pattern.h"
#include "runtime/text/grammar/schema.h"

namespace nmc::api {
namespace {

Result<AnswerFormat> schema_format(const Json& schema, const std::string& where) {
  if (!schema.is_object()) return must_be(where, "a JSON Schema, as an object");
  return AnswerFormat{.kind = AnswerFormat::Kind::kSchema, .where = where, .schema = schema};
}

// A schema may come as its text.
Result<AnswerFormat> schema_or_text_format(const Json& schema, const std::string& where) {
  if (!schema.is_string()) return schema_format(schema, where);
  auto parsed = parse_json(schema.get_ref<const std::string&>(), "the JSON Schema");
  if (!parsed.ok()) return parsed.status().with_context("request: the field \"" + where + "\"");
  return schema_format(*parsed, where);
}

Result<AnswerFormat> text_format(AnswerFormat::Kind kind, const Json& text,
                                 const std::string& where) {
  if (!text.is_string() || text == "") {
    return must_be(where, kind == AnswerFormat::Kind::kGrammar ? "a grammar, as text"
                                                               : "a regular expression, as text");
  }
  return AnswerFormat{.kind = kind, .where = where, .text = text.get<std::string>()};
}

Result<AnswerFormat> choice_format(const Json& choices, const std::string& where) {
  const bool strings = choices.is_array() && !choices.empty() &&
                       std::all_of(choices.begin(), choices.end(),
                                   [](const Json& choice) { return choice.is_string(); });
  if (!strings) return must_be(where, "a list of texts, of which the answer is one");
  return AnswerFormat{.kind = AnswerFormat::Kind::kChoice,
                      .where = where,
                      .choices = choices.get<std::vector<std::string>>()};
}

Result<AnswerFormat> object_format(const Json& wanted, const std::string& where) {
  if (!wanted.is_boolean()) return must_be(where, "true or false");
  return AnswerFormat{
      .kind = wanted == true ? AnswerFormat::Kind::kObject : AnswerFormat::Kind::kText,
      .where = where};
}

Result<AnswerFormat> parse_response_format(const Json& format, const std::string& where) {
  if (!format.is_object()) return must_be(where, "an object");
  const Json& type = field(format, "type");
  if (type == "text") return AnswerFormat{};
  if (type == "json_object") {
    const Json& schema = field(format, "schema");
    if (!schema.is_null()) return schema_format(schema, where + ".schema");
    return AnswerFormat{.kind = AnswerFormat::Kind::kObject, .where = where};
  }
  if (type != "json_schema") {
    return must_be(where + ".type", "\"text\", \"json_object\" or \"json_schema\"");
  }
  const Json& named = field(format, "json_schema");
  if (!named.is_object()) return must_be(where + ".json_schema", "an object");
  return schema_format(field(named, "schema"), where + ".json_schema.schema");
}

// One of vLLM's constraints, by the name that it has in "structured_outputs".
Result<AnswerFormat> parse_constraint(std::string_view name, const Json& value,
                                      const std::string& where) {
  if (name == "json") return schema_or_text_format(value, where);
  if (name == "json_object") return object_format(value, where);
  if (name == "regex") return text_format(AnswerFormat::Kind::kPattern, value, where);
  if (name == "choice") return choice_format(value, where);
  if (name == "grammar") return text_format(AnswerFormat::Kind::kGrammar, value, where);
  return unsupported("request: the field \"" + where + "\" is not supported yet");
}

// Of all the formats that a request asks for, the only one.
class OneFormat {
 public:
  Status add(Result<AnswerFormat> format) {
    NMC_TRY(format.status());
    if (format->kind == AnswerFormat::Kind::kText) return {};
    if (format_.kind != AnswerFormat::Kind::kText) {
      return invalid_argument("request: only one of the fields \"" + format_.where + "\" and \"" +
                              format->where + "\" can be enforced");
    }
    format_ = std::move(format).value();
    return {};
  }
  AnswerFormat take() { return std::move(format_); }

 private:
  AnswerFormat format_;
};

}  // namespace

Result<AnswerFormat> parse_answer_format(const Json& body) {
  OneFormat one;
  if (const Json& format = field(body, "response_format"); !format.is_null()) {
    NMC_TRY(one.add(parse_response_format(format, "response_format")));
  }
  if (const Json& schema = field(body, "json_schema"); !schema.is_null()) {
    NMC_TRY(one.add(schema_format(schema, "json_schema")));
  }
  if (const Json& grammar = field(body, "grammar"); !grammar.is_null()) {
    NMC_TRY(one.add(text_format(AnswerFormat::Kind::kGrammar, grammar, "grammar")));
  }
  for (const char* name : {"json", "json_object", "regex", "choice", "grammar"}) {
    const std::string guided = std::string("guided_") + name;
    if (const Json& value = field(body, guided.c_str()); !value.is_null()) {
      NMC_TRY(one.add(parse_constraint(name, value, guided)));
    }
  }
  const Json& outputs = field(body, "structured_outputs");
  if (!outputs.is_null() && !outputs.is_object()) return must_be("structured_outputs", "an object");
  for (const char* name : {"json", "json_object", "regex", "choice", "grammar", "structural_tag"}) {
    if (const Json& value = field(outputs, name); !value.is_null()) {
      NMC_TRY(one.add(parse_constraint(name, value, std::string("structured_outputs.") + name)));
    }
  }
  return one.take();
}

Result<ExprId> format_expression(GrammarBuilder& builder, const AnswerFormat& format) {
  const std::string context = "request: the field \"" + format.where + "\"";
  switch (format.kind) {
    case AnswerFormat::Kind::kGrammar: {
      auto root = parse_gbnf(builder, format.text);
      if (!root.ok()) return root.status().with_context(context);
      return builder.call(*root);
    }
    case AnswerFormat::Kind::kPattern: {
      auto pattern = text_pattern_expression(builder, format.text);
      if (!pattern.ok()) return pattern.status().with_context(context);
      return pattern;
    }
    case AnswerFormat::Kind::kChoice: {
      auto choice = choice_expression(builder, format.choices);
      if (!choice.ok()) return choice.status().with_context(context);
      return choice;
    }
    case AnswerFormat::Kind::kObject:
      return JsonRules(builder).object();
    default:
      break;
  }
  JsonRules json(builder);
  return schema_expression(builder, json, format.schema, format.where);
}

}  // namespace nmc::api
