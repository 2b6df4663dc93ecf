#include <algorithm>

#include "runtime/text/grammar/pattern.h"
#include "runtime/text/grammar/schema_compiler.h"

namespace nmc {
namespace {

bool is_plain_annotation(const std::string& key) {
  return key == "description" || key == "title" || key == "default" || key == "examples" ||
         key == "$comment" || key == "$defs" || key == "definitions" || key == "$schema" ||
         key == "$id";
}

// The type a branch is limited to, if it names exactly one.
std::string only_type(const Json& branch) {
  if (branch.is_object() && branch.contains("type") && branch["type"].is_string())
    return branch["type"].get<std::string>();
  return "";
}

// The values a branch is limited to, as JSON texts.
std::set<std::string> constants(const Json& branch) {
  std::set<std::string> out;
  if (!branch.is_object()) return out;
  if (branch.contains("const"))
    out.insert(dump_json(branch["const"]));
  else if (branch.contains("enum") && branch["enum"].is_array()) {
    for (const Json& v : branch["enum"]) out.insert(dump_json(v));
  }
  return out;
}

bool disjoint_sets(const std::set<std::string>& a, const std::set<std::string>& b) {
  return !a.empty() && !b.empty() &&
         std::none_of(a.begin(), a.end(), [&](const auto& v) { return b.contains(v); });
}

bool is_required(const Json& branch, const std::string& name) {
  if (!branch.contains("required") || !branch["required"].is_array()) return false;
  return std::find(branch["required"].begin(), branch["required"].end(), Json(name)) !=
         branch["required"].end();
}

// True when no value can satisfy both: different types, different constants, or objects that
// require one property to be different constants.
bool disjoint(const Json& a, const Json& b) {
  std::string ta = only_type(a), tb = only_type(b);
  bool both_numbers = (ta == "integer" && tb == "number") || (ta == "number" && tb == "integer");
  if (!ta.empty() && !tb.empty() && ta != tb && !both_numbers) return true;
  if (disjoint_sets(constants(a), constants(b))) return true;
  if (!a.is_object() || !b.is_object() || !a.contains("properties") || !b.contains("properties"))
    return false;
  if (!a["properties"].is_object() || !b["properties"].is_object()) return false;
  for (const auto& [name, value] : a["properties"].items()) {
    if (!b["properties"].contains(name) || !is_required(a, name) || !is_required(b, name)) continue;
    if (disjoint_sets(constants(value), constants(b["properties"][name]))) return true;
  }
  return false;
}

// The pattern of what two patterns ask for, where each counts characters of one class.
std::optional<std::string> both_patterns(const Json& a, const Json& b) {
  if (!a.is_string() || !b.is_string()) return std::nullopt;
  const auto first = counted_class(a.get<std::string>());
  const auto second = counted_class(b.get<std::string>());
  if (!first || !second) return std::nullopt;
  const CountedClass both = *first & *second;
  if (both.max != kNoLimit && both.max < both.min) return std::nullopt;
  return both.pattern();
}

}  // namespace

Result<ExprId> SchemaCompiler::compile_any_of(const char* keyword, const Json& schema,
                                              const std::string& path) {
  const Json& branches = schema[keyword];
  std::string at = path + "/" + keyword;
  NMC_TRY(check_list(branches, at));
  for (const auto& [key, ignored] : schema.items()) {
    if (key != keyword && key != "type" && !is_plain_annotation(key)) {
      return refuse(path + "/" + key, std::string("it cannot be combined with \"") + keyword +
                                          "\"; move it into the branches");
    }
  }
  if (keyword == std::string("oneOf")) {
    constexpr size_t kMaxCompared = 200;  // every branch is compared with every other one
    if (branches.size() > kMaxCompared) return refuse(at, "up to 200 branches can be enforced");
    for (size_t i = 0; i < branches.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (!disjoint(branches[k], branches[i])) {
          return refuse(at,
                        "branches " + std::to_string(k) + " and " + std::to_string(i) +
                            " may both match, so \"exactly one\" cannot be enforced; use anyOf");
        }
      }
    }
  }
  std::vector<ExprId> options;
  for (size_t i = 0; i < branches.size(); ++i) {
    Json branch = branches[i];
    if (schema.contains("type")) {
      bool takes = branch.is_object() &&
                   (!branch.contains("type") || branch["type"] == schema["type"]) &&
                   !branch.contains("$ref");
      if (!takes)
        return refuse(path + "/type", std::string("it cannot be combined with branch ") +
                                          std::to_string(i) + " of \"" + keyword + "\"");
      branch["type"] = schema["type"];
    }
    NMC_ASSIGN(ExprId option, compile(branch, at + "/" + std::to_string(i)));
    options.push_back(option);
  }
  return b_.choice(std::move(options));
}

// One schema with the keywords of all parts. Parts are merged where that means the same; the rest
// is refused.
Result<Json> SchemaCompiler::merge_all_of(const Json& schema, const std::string& path) const {
  std::string at = path + "/allOf";
  const Json& parts = schema["allOf"];
  NMC_TRY(check_list(parts, at));
  Json merged = schema;
  merged.erase("allOf");
  if (parts.size() == 1 && parts[0].is_object() && parts[0].contains("$ref")) {
    bool alone = std::all_of(merged.items().begin(), merged.items().end(),
                             [](const auto& item) { return is_plain_annotation(item.key()); });
    if (alone) return parts[0];
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string here = at + "/" + std::to_string(i);
    if (!parts[i].is_object()) return refuse(here, "a schema object is expected");
    for (const auto& [key, value] : parts[i].items()) {
      if (is_plain_annotation(key)) continue;
      if (!merged.contains(key) || merged[key] == value) {
        // additionalProperties speaks of the properties beside it only; merging would change that.
        if (key == "additionalProperties" && parts.size() > 1)
          return refuse(here + "/" + key, "it cannot be enforced inside allOf");
        if (key == "$ref" || key == "anyOf" || key == "oneOf" || key == "allOf")
          return refuse(here + "/" + key, "it cannot be enforced inside allOf");
        merged[key] = value;
      } else if (key == "properties" && value.is_object() && merged[key].is_object()) {
        for (const auto& [name, property] : value.items()) {
          if (merged[key].contains(name) && merged[key][name] != property)
            return refuse(here + "/properties/" + name, "it is described twice");
          merged[key][name] = property;
        }
      } else if (key == "required" && value.is_array() && merged[key].is_array()) {
        for (const Json& name : value) merged[key].push_back(name);
      } else if (auto both = key == "pattern" ? both_patterns(merged[key], value) : std::nullopt) {
        merged[key] = *both;
      } else {
        return refuse(here + "/" + key, "it stands in several parts of allOf and cannot be merged");
      }
    }
  }
  if (merged.contains("additionalProperties") && merged.contains("properties") &&
      schema.contains("additionalProperties")) {
    return refuse(path + "/additionalProperties", "it cannot be enforced beside allOf");
  }
  return merged;
}

}  // namespace nmc
