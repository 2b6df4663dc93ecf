#include <algorithm>

#include "runtime/text/grammar/schema_compiler.h"

namespace nmc {
namespace {

constexpr size_t kMaxProperties = 1000;  // of one object: what may follow each is the sum's square

// The code points of UTF-8 text that JSON parsing has checked already.
std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < text.size();) out.push_back(next_code_point(text, &i));
  return out;
}

}  // namespace

Result<ExprId> SchemaCompiler::compile_object(const Json& schema, const std::string& path) {
  NMC_ASSIGN(std::vector<Property> properties, read_properties(schema, path));
  NMC_ASSIGN(std::optional<ExprId> additional, read_additional(schema, path));
  return b_.sequence({b_.literal("{"), rules_.space(), object_members(properties, additional, path),
                      b_.literal("}")});
}

Result<std::vector<SchemaCompiler::Property>> SchemaCompiler::read_properties(
    const Json& schema, const std::string& path) {
  std::set<std::string> required;
  if (schema.contains("required")) {
    if (!schema["required"].is_array())
      return refuse(path + "/required", "a list of names is expected");
    for (const Json& name : schema["required"]) {
      if (!name.is_string()) return refuse(path + "/required", "a list of names is expected");
      required.insert(name.get<std::string>());
    }
  }
  std::vector<Property> properties;
  if (schema.contains("properties")) {
    const Json& list = schema["properties"];
    if (!list.is_object()) return refuse(path + "/properties", "an object is expected");
    if (list.size() > kMaxProperties) {
      return refuse(path + "/properties", "the object has " + std::to_string(list.size()) +
                                              " members; up to " + std::to_string(kMaxProperties) +
                                              " can be enforced");
    }
    for (const auto& [name, value] : list.items()) {
      NMC_ASSIGN(ExprId expression, compile_rule(value, path + "/properties/" + name));
      properties.push_back({name, expression, required.erase(name) > 0});
    }
  }
  // Names that are required but not described follow the rule for additional properties.
  for (const std::string& name : required) {
    const Json additional =
        schema.contains("additionalProperties") ? schema["additionalProperties"] : Json(true);
    if (additional == false)
      return refuse(path + "/required",
                    "\"" + name + "\" is required but not among the properties");
    NMC_ASSIGN(ExprId expression, compile_rule(additional, path + "/additionalProperties"));
    properties.push_back({name, expression, true});
  }
  return properties;
}

Result<std::optional<ExprId>> SchemaCompiler::read_additional(const Json& schema,
                                                              const std::string& path) {
  if (!schema.contains("additionalProperties")) return std::optional<ExprId>(rules_.value());
  const Json& value = schema["additionalProperties"];
  if (value == false) return std::optional<ExprId>();
  NMC_ASSIGN(ExprId expression, compile_rule(value, path + "/additionalProperties"));
  return std::optional<ExprId>(expression);
}

// The members in order, up to the closing brace. Two chains of rules: what may follow when members
// stand before (a comma is due), and when none does.
ExprId SchemaCompiler::object_members(const std::vector<Property>& properties,
                                      std::optional<ExprId> additional, const std::string& path) {
  auto member = [&](ExprId key, ExprId value) {
    return b_.sequence({key, rules_.space(), rules_.colon(), value});
  };
  ExprId after = rules_.space();
  ExprId first = b_.empty();
  if (additional) {
    std::vector<std::string> names;
    for (const Property& p : properties) names.push_back(p.name);
    std::sort(names.begin(), names.end());
    ExprId extra =
        shared(path + " additional",
               member(b_.sequence({b_.literal("\""), other_key(names, 0)}), *additional));
    ExprId more = b_.repeat(b_.sequence({rules_.comma(), extra}), 0, kNoLimit);
    after = shared(path + " more", b_.sequence({more, rules_.space()}));
    first = b_.optional(b_.sequence({extra, after}));
  }
  for (size_t i = properties.size(); i-- > 0;) {
    const Property& p = properties[i];
    ExprId this_member = member(b_.literal(dump_json(p.name)), p.value);
    ExprId next_first = b_.sequence({this_member, after});
    ExprId next_after = b_.sequence({rules_.comma(), this_member, after});
    first = p.required ? next_first : b_.choice({next_first, first});
    after =
        shared(path + " after " + p.name, p.required ? next_after : b_.choice({next_after, after}));
  }
  return first;
}

// The rest of a key, behind its quote, that is none of `names` (sorted; their first `depth`
// characters were read). Until the key differs from every name it is written without escapes, so
// that no name can be spelled in another way.
ExprId SchemaCompiler::other_key(const std::vector<std::string>& names, size_t depth) {
  std::map<uint32_t, std::vector<std::string>> next;
  bool complete = false;
  for (const std::string& name : names) {
    std::vector<uint32_t> points = code_points(name);
    if (points.size() == depth)
      complete = true;
    else
      next[points[depth]].push_back(name);
  }
  if (next.empty() && !complete) return rules_.string_tail();
  std::vector<ExprId> options;
  if (!complete) options.push_back(b_.literal("\""));
  std::vector<CodePoints> taken{{0, 0x1f}, {'"', '"'}, {'\\', '\\'}};
  for (auto& [point, deeper] : next) {
    taken.push_back({point, point});
    bool escaped = point < 0x20 || point == '"' || point == '\\';
    if (escaped) continue;  // such names cannot be spelled without an escape
    options.push_back(
        b_.sequence({utf8_character(b_, {{point, point}}), other_key(deeper, depth + 1)}));
  }
  options.push_back(b_.sequence({utf8_character(b_, complement(taken)), rules_.string_tail()}));
  return b_.choice(std::move(options));
}

}  // namespace nmc
