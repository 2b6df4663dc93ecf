// The calls of Qwen3-Coder: parameters between tags, texts as they stand, all else as JSON.
#include <algorithm>
#include <set>

#include "runtime/text/dialect/parameter_kind.h"
#include "runtime/text/grammar/choice.h"
#include "runtime/text/grammar/counted_text.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/pattern.h"
#include "runtime/text/grammar/schema.h"
#include "runtime/text/grammar/string_format.h"
#include "runtime/text/grammar/tool_calls.h"

namespace nmc {
namespace {

constexpr std::string_view kClosing = "</parameter>";

CodePoints code_point(char c) {
  const auto value = static_cast<uint32_t>(static_cast<unsigned char>(c));
  return {value, value};
}

// Characters up to and with the closing tag, which does not stand earlier among them.
ExprId text_to_closing(GrammarBuilder& b) {
  // Behind a '<' the tag's beginning, which another '<' begins anew and any other character ends.
  std::vector<ExprId> again, broken;
  for (size_t known = 1; known < kClosing.size(); ++known) {
    const std::string begun(kClosing.substr(1, known - 1));
    again.push_back(b.literal(begun + "<"));
    broken.push_back(b.sequence(
        {b.literal(begun),
         utf8_character(b, complement({code_point('<'), code_point(kClosing[known])}))}));
  }
  const ExprId restarts = b.repeat(b.choice(std::move(again)), 0, kNoLimit);
  const ExprId tag_like = b.sequence({b.literal("<"), restarts, b.choice(std::move(broken))});
  // A repetition of its own: masks know the tokens that stay within one.
  const ExprId plain = b.repeat(utf8_character(b, complement({code_point('<')})), 0, kNoLimit);
  return b.sequence({plain, b.repeat(b.sequence({tag_like, plain}), 0, kNoLimit), b.literal("<"),
                     restarts, b.literal(kClosing.substr(1))});
}

class TaggedCalls {
 public:
  TaggedCalls(GrammarBuilder& b, const JsonRules& json)
      : b_(b),
        json_(json),
        text_(b.call(b.rule("text", text_to_closing(b)))),
        closing_(b.literal("\n" + std::string(kClosing))) {}

  // From the function's name on.
  Result<ExprId> call(const ToolDefinition& tool, const std::string& where) {
    if (tool.name.find_first_of("<>\n") != std::string::npos) {
      return refuse(where, "the tool's name must not hold <, > or a line break");
    }
    NMC_ASSIGN(ExprId parameters, this->parameters(tool.parameters, where + ".parameters"));
    return b_.sequence({b_.literal(tool.name + ">\n"), parameters, b_.literal("</function>\n")});
  }

 private:
  static Status refuse(const std::string& path, const std::string& why) {
    return invalid_argument(path + ": " + why);
  }

  Result<ExprId> parameters(const Json& schema, const std::string& where) {
    if (schema.is_null()) return b_.empty();
    if (!schema.is_object()) return refuse(where, "an object schema is expected");
    if (schema.value("type", Json("object")) != "object") {
      return refuse(where + "/type",
                    "the arguments of a call are an object, so it must be \"object\"");
    }
    // For its checks; the object itself is not written as JSON.
    NMC_TRY(schema_expression(b_, json_, schema, where).status());
    for (const char* key : {"$ref", "anyOf", "oneOf", "allOf", "enum", "const"}) {
      if (schema.contains(key)) return refuse(where + "/" + key, "not supported for this model");
    }
    std::set<std::string> required;
    for (const Json& name : schema.value("required", Json::array())) required.insert(name);
    std::vector<ExprId> parts;
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, property] : properties.items()) {
      const std::string path = where + "/properties/" + name;
      if (name.find_first_of("<>\n") != std::string::npos) {
        return refuse(path, "a parameter's name must not hold <, > or a line break");
      }
      NMC_ASSIGN(ExprId value, this->value(property, schema, path));
      const ExprId parameter =
          b_.sequence({b_.literal("<parameter=" + name + ">\n"), value, b_.literal("\n")});
      parts.push_back(required.erase(name) > 0 ? parameter : b_.optional(parameter));
    }
    if (!required.empty()) {
      return refuse(where + "/required",
                    "\"" + *required.begin() + "\" is not among the properties");
    }
    return parts.empty() ? b_.empty() : b_.sequence(std::move(parts));
  }

  // A value with its closing tag.
  Result<ExprId> value(const Json& property, const Json& root, const std::string& path) {
    const ParameterKind kind = parameter_kind(property);
    if (kind == ParameterKind::kText) return text(property, path);
    if (kind == ParameterKind::kTextOrNull) {
      NMC_ASSIGN(ExprId text, this->text(property, path));
      return b_.choice({text, b_.sequence({b_.literal("null"), closing_})});
    }
    // References are resolved from the root.
    Json schema = property;
    for (const char* key : {"$defs", "definitions"}) {
      if (schema.is_object() && root.contains(key)) schema[key] = root[key];
    }
    NMC_ASSIGN(ExprId json, schema_expression(b_, json_, schema, path));
    return b_.sequence({json, closing_});
  }

  Result<ExprId> text(const Json& schema, const std::string& path) {
    const Json listed =
        schema.contains("const") ? Json::array({schema["const"]}) : schema.value("enum", Json());
    if (!listed.is_null()) return listed_text(listed, path);
    // Without the tag's first character there is nothing to look out for.
    if (schema.contains("pattern")) {
      if (schema.contains("minLength") || schema.contains("maxLength")) {
        return refuse(path + "/pattern",
                      "not supported beside minLength or maxLength for this model");
      }
      auto text =
          text_pattern_expression(b_, schema["pattern"].get<std::string>(), {code_point('<')});
      if (!text.ok()) return refuse(path + "/pattern", text.status().message());
      return b_.sequence({*text, closing_});
    }
    if (schema.contains("format")) {
      const std::string name = schema["format"];
      auto text = text_pattern_expression(b_, string_format_pattern(name).value_or(""));
      if (!text.ok()) return refuse(path + "/format", text.status().message());
      return b_.sequence({*text, closing_});
    }
    if (!schema.contains("minLength") && !schema.contains("maxLength")) return text_;
    const int64_t min = schema.value("minLength", int64_t{0});
    const int64_t max =
        schema.contains("maxLength") ? schema["maxLength"].get<int64_t>() : kNoLimit;
    const ExprId character = utf8_character(b_, complement({code_point('<')}));
    return counted_text(b_, "characters of a parameter", character, min, max, closing_);
  }

  Result<ExprId> listed_text(const Json& listed, const std::string& path) {
    std::vector<ExprId> options;
    for (const Json& value : listed) {
      if (value.is_null()) continue;
      const auto& text = value.get_ref<const std::string&>();
      if (text.find(kClosing) != std::string::npos) {
        return refuse(path, "a value must not hold " + std::string(kClosing));
      }
      options.push_back(b_.sequence({b_.literal(text), closing_}));
    }
    return b_.choice(std::move(options));
  }

  GrammarBuilder& b_;
  const JsonRules& json_;
  const ExprId text_, closing_;
};

}  // namespace

Result<RuleId> coder_tool_calls(GrammarBuilder& b, const ToolCallRules& rules,
                                const MarkerSpelling& spelling) {
  JsonRules json(b);
  TaggedCalls tagged(b, json);
  std::vector<ExprId> calls;
  for (size_t i = 0; i < rules.tools.size(); ++i) {
    NMC_ASSIGN(ExprId call,
               tagged.call(rules.tools[i], "tools[" + std::to_string(i) + "].function"));
    calls.push_back(call);
  }
  const ExprId body = b.sequence(
      {b.literal("\n<function="), b.choice(std::move(calls)), b.literal(spelling("</tool_call>"))});
  const ExprId one = b.call(b.rule("call", body));
  if (!rules.parallel) return b.rule("calls", one);
  const ExprId next = b.sequence({json.space(), b.literal(spelling("<tool_call>")), one});
  return b.rule("calls", b.sequence({one, b.repeat(next, 0, kNoLimit)}));
}

}  // namespace nmc
