#include "runtime/text/dialect/parameter_kind.h"

#include <algorithm>

namespace nmc {
namespace {

bool all_are(const Json& list, bool (*test)(const Json&)) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), test);
}

}  // namespace

ParameterKind parameter_kind(const Json& schema) {
  if (!schema.is_object() || schema.empty()) return ParameterKind::kUnknown;
  for (const char* key : {"$ref", "anyOf", "oneOf", "allOf"}) {
    if (schema.contains(key)) return ParameterKind::kJson;
  }
  const auto is_string = [](const Json& value) { return value.is_string(); };
  const auto is_text = [](const Json& value) { return value.is_string() || value.is_null(); };
  const Json listed =
      schema.contains("const") ? Json::array({schema["const"]}) : schema.value("enum", Json());
  if (all_are(listed, is_string)) return ParameterKind::kText;
  if (all_are(listed, is_text)) return ParameterKind::kTextOrNull;
  if (!listed.is_null()) return ParameterKind::kJson;
  const Json type = schema.value("type", Json());
  if (type.is_null()) return ParameterKind::kUnknown;
  if (type == "string" || type == Json::array({"string"})) return ParameterKind::kText;
  const bool nullable = type == Json{"string", "null"} || type == Json{"null", "string"};
  return nullable ? ParameterKind::kTextOrNull : ParameterKind::kJson;
}

ParameterKind parameter_kind(const Json& parameters, const std::string& name) {
  if (!parameters.is_object() || !parameters.contains("properties")) return ParameterKind::kUnknown;
  const Json& properties = parameters["properties"];
  if (!properties.is_object() || !properties.contains(name)) return ParameterKind::kUnknown;
  return parameter_kind(properties[name]);
}

}  // namespace nmc
