#include "tests/runtime/text/grammar/grammar_cases.h"

#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/schema.h"

namespace nmc {
namespace {

using Build = std::function<Result<RuleId>(GrammarBuilder&)>;

Build of_schema(Json json) {
  return [json = std::move(json)](GrammarBuilder& b) -> Result<RuleId> {
    JsonRules rules(b);
    NMC_ASSIGN(ExprId root, schema_expression(b, rules, json, "schema"));
    return b.rule("root", root);
  };
}
Build of_schema(const char* json) {
  return of_schema(Json::parse(json));
}

std::string as_text(const std::string& marker) {
  return marker;
}

// Words with a common beginning, as names of cities, models or files have them.
Json long_enum() {
  Json values = Json::array();
  for (int i = 0; i < 500; ++i) values.push_back("region-" + std::to_string(i * 7919 % 1000));
  return {{"enum", values}};
}

// Events that a member tells apart, as in a stream of changes.
Json many_branches() {
  Json branches = Json::array();
  for (int i = 0; i < 40; ++i) {
    branches.push_back({{"type", "object"},
                        {"additionalProperties", false},
                        {"required", {"kind", "value"}},
                        {"properties",
                         {{"kind", {{"const", "event_" + std::to_string(i)}}},
                          {"value", {{"type", i % 2 ? "string" : "integer"}}}}}});
  }
  return {{"anyOf", branches}};
}

}  // namespace

// The tools of a coding agent.
std::vector<ToolDefinition> coding_tools() {
  auto tool = [](const char* name, const char* properties, const char* required) {
    return ToolDefinition{
        name,
        Json::parse(std::string(R"({"type": "object", "additionalProperties": false,)") +
                    "\"properties\": {" + properties + "}, \"required\": [" + required + "]}")};
  };
  return {
      tool("bash", R"("command": {"type": "string", "description": "The command"},
        "timeout": {"type": "number"}, "workdir": {"type": "string"},
        "description": {"type": "string"})",
           R"("command", "description")"),
      tool("read", R"("filePath": {"type": "string"}, "offset": {"type": "number"},
        "limit": {"type": "number"})",
           R"("filePath")"),
      tool("write", R"("content": {"type": "string"}, "filePath": {"type": "string"})",
           R"("content", "filePath")"),
      tool("edit", R"("filePath": {"type": "string"}, "oldString": {"type": "string"},
        "newString": {"type": "string"}, "replaceAll": {"type": "boolean"})",
           R"("filePath", "oldString", "newString")"),
      tool("glob", R"("pattern": {"type": "string"}, "path": {"type": "string"})", R"("pattern")"),
      tool("grep", R"("pattern": {"type": "string"}, "path": {"type": "string"},
        "include": {"type": "string"})",
           R"("pattern")"),
      tool("list", R"("path": {"type": "string"},
        "ignore": {"type": "array", "items": {"type": "string"}})",
           ""),
      tool("webfetch", R"("url": {"type": "string"}, "timeout": {"type": "number"},
        "format": {"type": "string", "enum": ["text", "markdown", "html"]})",
           R"("url", "format")"),
      tool("task", R"("description": {"type": "string"}, "prompt": {"type": "string"},
        "subagent_type": {"type": "string"})",
           R"("description", "prompt", "subagent_type")"),
      tool("todowrite", R"("todos": {"type": "array", "items": {"type": "object",
        "additionalProperties": false, "required": ["content", "status", "priority", "id"],
        "properties": {"content": {"type": "string"}, "status": {"type": "string",
        "enum": ["pending", "in_progress", "completed", "cancelled"]},
        "priority": {"type": "string", "enum": ["high", "medium", "low"]},
        "id": {"type": "string"}}}})",
           R"("todos")"),
  };
}

std::vector<ToolDefinition> many_tools(int count, int parameters) {
  std::vector<ToolDefinition> tools;
  for (int i = 0; i < count; ++i) {
    Json properties, required = Json::array();
    for (int k = 0; k < parameters; ++k) {
      const std::string name = "field_" + std::to_string(i) + "_" + std::to_string(k);
      static const char* const kSchemas[] = {
          R"({"type": "string", "description": "Any text"})",
          R"({"type": "integer", "minimum": 0, "maximum": 1000})",
          R"({"type": "array", "items": {"type": "string"}, "maxItems": 20})",
          R"({"enum": ["open", "closed", "all"]})",
          R"({"type": ["string", "null"]})",
          R"({"type": "object", "properties": {"key": {"type": "string"}, "value": {}}})",
          R"({"type": "boolean"})",
          R"({"type": "string", "maxLength": 200})"};
      properties[name] = Json::parse(kSchemas[k % 8]);
      if (k % 3 == 0) required.push_back(name);
    }
    tools.push_back({"mcp__server_" + std::to_string(i / 20) + "__tool_" + std::to_string(i % 20),
                     Json{{"type", "object"},
                          {"properties", std::move(properties)},
                          {"required", std::move(required)}}});
  }
  return tools;
}

std::vector<GrammarCase> grammar_cases() {
  return {
      {"ten tools",
       [](GrammarBuilder& b) { return cmd4_tool_calls(b, {.tools = coding_tools()}, as_text); },
       {R"([
    {"tool_call_id": "0", "tool_name": "bash", "parameters": {"command": "cd src && grep -rn \"alpha\" .", "timeout": 1200, "description": "Find the uses of a name"}}
]<|END_ACTION|>)",
        R"([
    {"tool_call_id": "0", "tool_name": "edit", "parameters": {"filePath": "src/main.cpp", "oldString": "int main() {\n  return 0;\n}", "newString": "int main(int argc, char** argv) {\n  return run(argc, argv);\n}", "replaceAll": false}},
    {"tool_call_id": "1", "tool_name": "todowrite", "parameters": {"todos": [{"content": "Überprüfe den Parser", "status": "in_progress", "priority": "high", "id": "1"}]}}
]<|END_ACTION|>)"}},
      {"any object",
       of_schema(R"({"type": "object"})"),
       {R"({"name": "x", "list": [1, 2.5, {"deep": [true, null, "text with words"]}], "n": -12e3})"}},
      {"open object",
       of_schema(R"({"type": "object", "required": ["answer"], "properties": {
          "answer": {"type": "string"}, "score": {"type": "integer", "minimum": 0,
          "maximum": 100}}})"),
       {R"({"answer": "forty two", "score": 97, "reason": "because it is", "other": [1]})"}},
      {"formats and counts",
       of_schema(R"({"type": "object", "additionalProperties": false,
          "required": ["id", "day", "title"], "properties": {"id": {"pattern": "^[A-Z]{3}-[0-9]+$"},
          "day": {"format": "date"}, "title": {"type": "string", "maxLength": 80}}})"),
       {R"({"id": "ABC-1042", "day": "2024-05-17", "title": "a title that is not too long to be read"})"}},
      {"counted strings",
       of_schema(R"({"type": "object", "additionalProperties": false, "required": ["slug", "text"],
          "properties": {"slug": {"pattern": "^[a-z0-9_-]{1,64}$"},
          "text": {"type": "string", "minLength": 20, "maxLength": 4000}}})"),
       {R"({"slug": "a-name_of-some_kind-that-is-not-very-short-but-fits-the-bound", "text": "Words that stand near the lower bound, and then some more of them, so that it is passed."})"}},
      {"ten tools, tagged",
       [](GrammarBuilder& b) { return coder_tool_calls(b, {.tools = coding_tools()}, as_text); },
       {"\n<function=edit>\n<parameter=filePath>\nsrc/main.cpp\n</"
        "parameter>\n<parameter=oldString>\n"
        "int main() {\n  return 0;\n}\n</parameter>\n<parameter=newString>\nint main(int argc) {\n"
        "  return a < "
        "b;\n}\n</parameter>\n<parameter=replaceAll>\nfalse\n</parameter>\n</function>\n"
        "</tool_call>"}},
      {"300 tools",
       [](GrammarBuilder& b) {
         return cmd4_tool_calls(b, {.tools = many_tools(300, 20)}, as_text);
       },
       {R"([{"tool_call_id": "0", "tool_name": "mcp__server_7__tool_13", "parameters": {"field_153_0": "some words", "field_153_1": 17, "field_153_2": ["one", "two"], "field_153_3": "closed", "field_153_4": null, "field_153_5": {"key": "x", "value": [1]}, "field_153_6": true, "field_153_9": 0, "field_153_12": "y", "field_153_15": "z", "field_153_18": []}}]<|END_ACTION|>)"}},
      {"strings",
       of_schema(R"({"type": "array", "items": {"type": "string"}})"),
       {R"(["words and more words", "ein paar \"Zitate\"", "\u00e9t\u00e9 \n", "漢字"])"}},
      {"maxLength 80",
       of_schema(R"({"type": "string", "maxLength": 80})"),
       {R"("a title that is not too long to be read, though it comes close to eighty letters")"}},
      {"maxLength 1000",
       of_schema(R"({"type": "object", "required": ["text"], "properties": {
          "text": {"type": "string", "maxLength": 1000}}})"),
       {R"({"text": "Words that stand near the beginning, \"quotes\" among them, and then some more."})"}},
      {"identifier pattern",
       of_schema(R"({"type": "array", "items": {"pattern": "^[a-z][a-z0-9_]*$"}})"),
       {R"(["alpha", "a_name_of_some_length", "x1"])"}},
      {"loose pattern",
       of_schema(R"({"pattern": "\\.(ts|js|json)$"})"),
       {R"("src/components/button.test.ts")"}},
      {"commit pattern",
       of_schema(R"({"pattern": "^(feat|fix|docs)(\\([a-z-]+\\))?!?: .{1,72}$"})"),
       {R"("fix(parser): a list that ends behind a comma is read again")"}},
      {"email pattern",
       of_schema(R"({"pattern": "^\\S+@\\S+\\.\\S+$"})"),
       {R"("first.last@mail.example.org")"}},
      {"colour pattern",
       of_schema(R"({"type": "array", "items": {"pattern": "^#[0-9a-fA-F]{6}$"}})"),
       {R"(["#ff00AA", "#012345"])"}},
      {"formats",
       of_schema(R"({"type": "object", "additionalProperties": false, "required":
          ["a", "b", "c", "d", "e", "f"], "properties": {"a": {"format": "date-time"},
          "b": {"format": "uuid"}, "c": {"format": "email"}, "d": {"format": "uri"},
          "e": {"format": "hostname"}, "f": {"format": "ipv6"}}})"),
       {R"({"a": "2024-05-17T12:34:56.789Z", "b": "123e4567-e89b-12d3-a456-426614174000", "c": "first.last@mail.example.org", "d": "https://example.org/a/path?with=query#part", "e": "host-1.example.org", "f": "2001:db8:0:0:0:8a2e:370:7334"})"}},
      {"number bounds",
       of_schema(R"({"type": "array", "items": {"anyOf": [
          {"type": "integer", "minimum": 1, "maximum": 65535},
          {"type": "number", "exclusiveMinimum": -1, "maximum": 0.5},
          {"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991}]}})"),
       {"[8080, -0.25, 0.4999, 9007199254740991, -12]"}},
      {"enum of 500", of_schema(long_enum()), {R"("region-919")", R"("region-3")"}},
      {"nested lists",
       of_schema(R"({"type": "array", "minItems": 2, "maxItems": 50, "items": {"type": "array",
          "minItems": 1, "maxItems": 20, "items": {"type": "array", "minItems": 3, "maxItems": 3,
          "items": {"type": "integer"}}}})"),
       {"[[[1, 2, 3], [40, 50, 60]], [[-7, 8, 9]]]"}},
      {"40 branches", of_schema(many_branches()), {R"({"kind": "event_17", "value": "words"})"}},
      {"tree",
       of_schema(R"({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object",
          "additionalProperties": false, "required": ["name", "children"], "properties": {
          "name": {"type": "string"}, "children": {"type": "array",
          "items": {"$ref": "#/$defs/node"}}}}}})"),
       {R"({"name": "root", "children": [{"name": "a", "children": [{"name": "b", "children": []}]}]})"}},
  };
}

}  // namespace nmc
