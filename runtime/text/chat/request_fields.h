// Small helpers of those who read requests.
#pragma once

#include <initializer_list>
#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

inline constexpr const char* kRequest = "request";  // its name in errors

// The value of a key; null when it is absent, or when this is no object.
inline const Json& field(const Json& object, const char* key) {
  static const Json kNull;
  auto it = object.is_object() ? object.find(key) : object.end();
  return it == object.end() ? kNull : *it;
}

inline Status must_be(const std::string& name, const std::string& what) {
  return invalid_argument("request: the field \"" + name + "\" must be " + what);
}

// "messages[3]"
inline std::string element(const char* list, size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

// Copies the fields that both APIs have under one name.
inline void copy_fields(const Json& from, std::initializer_list<const char*> keys, Json* to) {
  for (const char* key : keys) {
    if (const Json& value = field(from, key); !value.is_null()) (*to)[key] = value;
  }
}

}  // namespace nmc
