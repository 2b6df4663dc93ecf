#include "runtime/text/grammar/schema.h"

#include <algorithm>
#include <cmath>

#include "runtime/text/grammar/schema_compiler.h"

namespace nmc {
namespace {

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxSchemas = 10'000;  // of one request
constexpr size_t kMaxListed = 1000;      // values of an enum, branches of anyOf, ...

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return word == w; });
}

// Keywords that say nothing about which values are valid.
bool is_annotation(const std::string& key) {
  return is_one_of(key, {"$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "title",
                         "description", "default", "examples", "example", "deprecated", "readOnly",
                         "writeOnly", "contentMediaType", "contentEncoding", "strict"});
}

bool is_enforced(const std::string& key) {
  return is_one_of(key, {"$ref",
                         "type",
                         "enum",
                         "const",
                         "anyOf",
                         "oneOf",
                         "allOf",
                         "properties",
                         "required",
                         "additionalProperties",
                         "items",
                         "prefixItems",
                         "minItems",
                         "maxItems",
                         "minLength",
                         "maxLength",
                         "pattern",
                         "format",
                         "minimum",
                         "maximum",
                         "exclusiveMinimum",
                         "exclusiveMaximum"});
}

// Appends a text that is equal for schemas which mean the same; false for one with references,
// whose meaning depends on where it stands.
bool add_meaning(const Json& schema, std::string* text) {
  if (!schema.is_object()) {
    *text += dump_json(schema);
    return true;
  }
  *text += '{';
  for (const auto& [key, value] : schema.items()) {
    if (key == "$ref") return false;
    if (is_annotation(key)) continue;
    *text += dump_json(key) + ':';
    const bool members = key == "properties" && value.is_object();
    const bool list =
        is_one_of(key, {"anyOf", "oneOf", "allOf", "prefixItems"}) && value.is_array();
    if (is_one_of(key, {"items", "additionalProperties"})) {
      if (!add_meaning(value, text)) return false;
    } else if (!members && !list) {
      *text += dump_json(value);
    } else {
      for (const auto& [name, part] : value.items()) {
        if (members) *text += dump_json(name);
        if (!add_meaning(part, text)) return false;
        *text += ',';
      }
    }
  }
  *text += '}';
  return true;
}

// The JSON types a value has: an integer is a number too.
bool has_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  return type == "integer" &&
         (value.is_number_integer() ||
          (value.is_number_float() && value == std::floor(value.get<double>())));
}

// One step of a JSON pointer (RFC 6901), unescaped.
std::string unescape_pointer(std::string step) {
  for (auto [from, to] : {std::pair{"~1", "/"}, {"~0", "~"}}) {
    for (size_t at = 0; (at = step.find(from, at)) != std::string::npos; ++at)
      step.replace(at, 2, to);
  }
  return step;
}

// What "#/a/b" points to in `root`, or null.
const Json* resolve(const Json& root, const std::string& reference) {
  const Json* at = &root;
  for (size_t i = 1; i < reference.size();) {
    size_t end = std::min(reference.find('/', i + 1), reference.size());
    std::string step = unescape_pointer(reference.substr(i + 1, end - i - 1));
    if (at->is_object() && at->contains(step))
      at = &(*at)[step];
    else
      return nullptr;
    i = end;
  }
  return at;
}

}  // namespace

Result<ExprId> SchemaCompiler::compile(const Json& schema, const std::string& path) {
  if (schema.is_boolean()) return schema.get<bool>() ? rules_.value() : b_.never();
  if (!schema.is_object()) return refuse(path, "a schema must be an object or a boolean");
  if (depth_ >= kMaxDepth)
    return refuse(path, "the schema nests deeper than " + std::to_string(kMaxDepth) + " levels");
  if (++schemas_ > kMaxSchemas)
    return refuse(path, "the schema has more than " + std::to_string(kMaxSchemas) + " parts");
  ++depth_;
  auto leave = [&](Result<ExprId> r) {
    --depth_;
    return r;
  };
  if (Status s = check_keywords(schema, path); !s.ok()) return leave(s);
  if (schema.contains("$ref")) return leave(compile_reference(schema, path));
  if (schema.contains("allOf")) {
    Result<Json> merged = merge_all_of(schema, path);
    return leave(merged.ok() ? compile(*merged, path) : Result<ExprId>(merged.status()));
  }
  if (schema.contains("const"))
    return leave(compile_constants(Json::array({schema["const"]}), schema, path + "/const"));
  if (schema.contains("enum"))
    return leave(compile_constants(schema["enum"], schema, path + "/enum"));
  for (const char* keyword : {"anyOf", "oneOf"}) {
    if (schema.contains(keyword)) return leave(compile_any_of(keyword, schema, path));
  }
  return leave(compile_types(schema, path));
}

Result<ExprId> SchemaCompiler::compile_rule(const Json& schema, const std::string& path) {
  std::string meaning;
  const bool can_share = add_meaning(schema, &meaning);
  if (can_share) {
    if (auto known = b_.find(meaning)) return *known;
  }
  NMC_ASSIGN(ExprId body, compile(schema, path));
  const bool is_rule = b_.expr(body).kind == Expr::Kind::kCall;
  const ExprId call = is_rule ? body : shared(path, body);
  if (can_share) b_.remember(std::move(meaning), call);
  return call;
}

Status SchemaCompiler::check_keywords(const Json& schema, const std::string& path) const {
  for (const auto& [key, value] : schema.items()) {
    if (is_annotation(key) || is_enforced(key)) continue;
    if (key == "uniqueItems" && value == false) continue;
    return refuse(path + "/" + key, "this keyword cannot be enforced; remove it");
  }
  return {};
}

Result<ExprId> SchemaCompiler::compile_reference(const Json& schema, const std::string& path) {
  const Json& value = schema["$ref"];
  for (const auto& [key, ignored] : schema.items()) {
    if (key != "$ref" && !is_annotation(key))
      return refuse(path + "/" + key, "keywords beside \"$ref\" cannot be enforced");
  }
  if (!value.is_string() || !value.get<std::string>().starts_with("#")) {
    return refuse(path + "/$ref", "only references inside the schema (\"#/...\") are known");
  }
  auto name = value.get<std::string>();
  if (auto it = references_.find(name); it != references_.end()) return b_.call(it->second);
  const Json* target = resolve(root_, name);
  if (!target) return refuse(path + "/$ref", "nothing is at \"" + name + "\"");
  RuleId rule = b_.declare(name);
  references_[name] = rule;  // before its body: it may refer to itself
  NMC_ASSIGN(ExprId body, compile(*target, name.substr(1)));
  b_.define(rule, body);
  return b_.call(rule);
}

Result<ExprId> SchemaCompiler::compile_constants(const Json& values, const Json& schema,
                                                 const std::string& path) {
  NMC_TRY(check_list(values, path));
  for (const auto& [key, ignored] : schema.items()) {
    bool fine = is_annotation(key) || key == "type" || key == "enum" || key == "const";
    if (!fine) return refuse(path, "the keyword \"" + key + "\" beside it cannot be enforced");
  }
  std::vector<ExprId> options;
  for (const Json& value : values) {
    bool fits = true;
    if (schema.contains("type")) {
      const Json& type = schema["type"];
      fits = type.is_string() && has_type(value, type.get<std::string>());
      for (const Json& t : type.is_array() ? type : Json::array())
        fits |= t.is_string() && has_type(value, t.get<std::string>());
    }
    if (schema.contains("const") && schema.contains("enum") && schema["enum"].is_array()) {
      const Json& list = schema["enum"];
      fits &= std::find(list.begin(), list.end(), value) != list.end();
    }
    if (fits) options.push_back(b_.literal(dump_json(value)));
  }
  if (options.empty())
    return refuse(path, "none of the values has the type that \"type\" asks for");
  return b_.choice(std::move(options));
}

Status SchemaCompiler::check_list(const Json& list, const std::string& path) const {
  if (!list.is_array() || list.empty()) return refuse(path, "a list of at least one is expected");
  if (list.size() <= kMaxListed) return {};
  return refuse(path, "the list has " + std::to_string(list.size()) + " entries; up to " +
                          std::to_string(kMaxListed) + " can be enforced");
}

Result<ExprId> SchemaCompiler::compile_types(const Json& schema, const std::string& path) {
  if (schema.contains("type")) {
    const Json& type = schema["type"];
    if (type.is_string()) return compile_type(type.get<std::string>(), schema, path);
    if (!type.is_array() || type.empty())
      return refuse(path + "/type", "a type name or a list of them is expected");
    std::vector<ExprId> options;
    for (const Json& t : type) {
      if (!t.is_string())
        return refuse(path + "/type", "a type name or a list of them is expected");
      NMC_ASSIGN(ExprId option, compile_type(t.get<std::string>(), schema, path));
      options.push_back(option);
    }
    return b_.choice(std::move(options));
  }
  // Without a type, the keywords of one type mean that type: what is produced is valid, though a
  // value of another type would be too.
  auto has = [&](std::initializer_list<const char*> keys) {
    return std::any_of(keys.begin(), keys.end(), [&](const char* k) { return schema.contains(k); });
  };
  if (has({"properties", "required", "additionalProperties"})) return compile_object(schema, path);
  if (has({"items", "prefixItems", "minItems", "maxItems"})) return compile_array(schema, path);
  if (has({"minLength", "maxLength", "pattern", "format"})) return compile_string(schema, path);
  if (has({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}))
    return compile_number(schema, path, false);
  return rules_.value();
}

Result<ExprId> SchemaCompiler::compile_type(const std::string& type, const Json& schema,
                                            const std::string& path) {
  if (type == "object") return compile_object(schema, path);
  if (type == "array") return compile_array(schema, path);
  if (type == "string") return compile_string(schema, path);
  if (type == "number") return compile_number(schema, path, false);
  if (type == "integer") return compile_number(schema, path, true);
  if (type == "boolean") return b_.choice({b_.literal("true"), b_.literal("false")});
  if (type == "null") return b_.literal("null");
  return refuse(path + "/type", "the type \"" + type + "\" does not exist");
}

Result<std::optional<int64_t>> SchemaCompiler::count(const Json& schema, const char* keyword,
                                                     const std::string& path) const {
  if (!schema.contains(keyword)) return std::optional<int64_t>();
  const Json& value = schema[keyword];
  if (!value.is_number() || value != std::floor(value.get<double>()) || value < 0) {
    return refuse(path + "/" + keyword, "a whole number of at least 0 is expected");
  }
  if (value > 1e9) return refuse(path + "/" + keyword, "the number is too large");
  return std::optional<int64_t>(static_cast<int64_t>(value.get<double>()));
}

Result<ExprId> schema_expression(GrammarBuilder& builder, const JsonRules& rules,
                                 const Json& schema, const std::string& where) {
  return SchemaCompiler(builder, rules, schema, where).compile(schema, "");
}

}  // namespace nmc
