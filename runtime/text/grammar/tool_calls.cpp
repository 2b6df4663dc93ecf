#include "runtime/text/grammar/tool_calls.h"

#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/schema.h"

namespace nmc {
namespace {

// The parameters of one tool, as an expression.
Result<ExprId> parameters(GrammarBuilder& b, const JsonRules& json, const ToolDefinition& tool,
                          size_t index) {
  std::string where = "tools[" + std::to_string(index) + "].function.parameters";
  // A tool without a schema takes no parameters.
  Json schema = tool.parameters.is_null() || tool.parameters == Json::object()
                    ? Json{{"type", "object"},
                           {"properties", Json::object()},
                           {"additionalProperties", false}}
                    : tool.parameters;
  if (!schema.is_object()) return invalid_argument(where + ": an object schema is expected");
  if (!schema.contains("type") && !schema.contains("$ref")) schema["type"] = "object";
  if (schema.contains("type") && schema["type"] != "object") {
    return invalid_argument(
        where + "/type: the arguments of a call are an object, so it must be \"object\"");
  }
  return schema_expression(b, json, schema, where);
}

// `"key": value` for a literal key.
ExprId member(GrammarBuilder& b, const JsonRules& json, const char* key, ExprId value) {
  return b.sequence({b.literal("\"" + std::string(key) + "\""), json.space(), json.colon(), value});
}

}  // namespace

Result<RuleId> cmd4_tool_calls(GrammarBuilder& b, const ToolCallRules& rules,
                               const MarkerSpelling& spelling) {
  JsonRules json(b);
  ExprId digits = b.repeat(b.bytes(ByteSet::range('0', '9')), 1, 4);
  ExprId id = b.sequence({b.literal("\""), digits, b.literal("\"")});
  std::vector<ExprId> calls;
  for (size_t i = 0; i < rules.tools.size(); ++i) {
    const ToolDefinition& tool = rules.tools[i];
    NMC_ASSIGN(ExprId arguments, parameters(b, json, tool, i));
    calls.push_back(b.sequence(
        {b.literal(dump_json(tool.name)), json.comma(), member(b, json, "parameters", arguments)}));
  }
  ExprId head = b.sequence({b.literal("{"), json.space(), member(b, json, "tool_call_id", id),
                            json.comma(), b.literal("\"tool_name\""), json.space(), json.colon()});
  ExprId call = b.sequence({head, b.choice(std::move(calls)), json.space(), b.literal("}")});
  ExprId one = b.call(b.rule("call", call));
  ExprId list = json.list('[', one, 1, rules.parallel ? kNoLimit : 1, ']');
  return b.rule("calls", b.sequence({json.space(), list, json.space(),
                                     b.literal(spelling("<|END_ACTION|>"))}));
}

Result<RuleId> hermes_tool_calls(GrammarBuilder& b, const ToolCallRules& rules,
                                 const MarkerSpelling& spelling) {
  JsonRules json(b);
  std::vector<ExprId> calls;
  for (size_t i = 0; i < rules.tools.size(); ++i) {
    const ToolDefinition& tool = rules.tools[i];
    NMC_ASSIGN(ExprId arguments, parameters(b, json, tool, i));
    calls.push_back(b.sequence(
        {b.literal(dump_json(tool.name)), json.comma(), member(b, json, "arguments", arguments)}));
  }
  ExprId head =
      b.sequence({b.literal("{"), json.space(), b.literal("\"name\""), json.space(), json.colon()});
  ExprId body = b.sequence({json.space(), head, b.choice(std::move(calls)), json.space(),
                            b.literal("}"), json.space(), b.literal(spelling("</tool_call>"))});
  ExprId one = b.call(b.rule("call", body));
  if (!rules.parallel) return b.rule("calls", one);
  ExprId next = b.sequence({json.space(), b.literal(spelling("<tool_call>")), one});
  return b.rule("calls", b.sequence({one, b.repeat(next, 0, kNoLimit)}));
}

}  // namespace nmc
