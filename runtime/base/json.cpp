#include "runtime/base/json.h"

#include <vector>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace nmc {
namespace {

// Depth, element count and key comparisons of a JSON text, read without building anything. It need
// not be valid.
Status check_limits(std::string_view text, std::string_view what, const JsonLimits& limits) {
  uint64_t elements = 0, comparisons = 0;
  std::vector<uint64_t> commas;  // of each open array or object
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    // The parser would take a zero byte for the end of the text and never see what follows.
    if (c == '\0') {
      return invalid_argument(std::string(what) + " is not valid JSON: a zero byte at byte " +
                              std::to_string(i) + " of " + std::to_string(text.size()));
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') commas.push_back(0);
    if (c == ']' || c == '}') {
      if (commas.empty()) return {};  // not valid, and the parser stops here and says so
      commas.pop_back();
    }
    if (c == ',' && !commas.empty()) ++commas.back();
    if (c == ':' && !commas.empty()) comparisons += commas.back();
    if (c == '[' || c == '{' || c == ',') ++elements;
    if (commas.size() > static_cast<size_t>(limits.depth)) {
      return invalid_argument(std::string(what) + " nests deeper than " +
                              std::to_string(limits.depth) + " levels at byte " +
                              std::to_string(i) + "; flatten it");
    }
    if (elements > limits.elements) {
      return invalid_argument(std::string(what) + " has more than " +
                              std::to_string(limits.elements) + " elements");
    }
    if (comparisons > limits.key_comparisons) {
      return invalid_argument(std::string(what) + " has an object with too many keys, near byte " +
                              std::to_string(i) + "; split it");
    }
  }
  return {};
}

Status missing(const char* key, std::string_view what) {
  return invalid_argument(std::string(what) + ": the field \"" + key + "\" is missing");
}

Status wrong_type(const char* key, std::string_view what, const char* expected, const Json& value) {
  return invalid_argument(std::string(what) + ": the field \"" + key + "\" must be " + expected +
                          ", not " + value.type_name());
}

// The field, or null when it is absent, null, or `object` is no object.
const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return invalid_argument(std::string(what) + " has " + std::to_string(text.size()) +
                            " bytes; at most " + std::to_string(limits.bytes) + " are accepted");
  }
  NMC_TRY(check_limits(text, what, limits));
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& e) {
    return invalid_argument(std::string(what) + " is not valid JSON: error at byte " +
                            std::to_string(e.byte) + " of " + std::to_string(text.size()));
  } catch (const Json::exception&) {
    return invalid_argument(std::string(what) + " holds a number outside the range of a double");
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<int64_t> json_int(const Json& object, const char* key, std::string_view what,
                         std::optional<int64_t> fallback) {
  const Json* v = find(object, key);
  if (!v) return fallback ? Result<int64_t>(*fallback) : missing(key, what);
  if (v->is_number_unsigned() && v->get<uint64_t>() > uint64_t{INT64_MAX}) {
    return invalid_argument(std::string(what) + ": the field \"" + key + "\" is too large");
  }
  if (v->is_number_integer()) return v->get<int64_t>();
  return wrong_type(key, what, "an integer", *v);
}

Result<double> json_number(const Json& object, const char* key, std::string_view what,
                           std::optional<double> fallback) {
  const Json* v = find(object, key);
  if (!v) return fallback ? Result<double>(*fallback) : missing(key, what);
  if (v->is_number()) return v->get<double>();
  return wrong_type(key, what, "a number", *v);
}

Result<bool> json_bool(const Json& object, const char* key, std::string_view what,
                       std::optional<bool> fallback) {
  const Json* v = find(object, key);
  if (!v) return fallback ? Result<bool>(*fallback) : missing(key, what);
  if (v->is_boolean()) return v->get<bool>();
  return wrong_type(key, what, "true or false", *v);
}

Result<std::string> json_string(const Json& object, const char* key, std::string_view what,
                                std::optional<std::string> fallback) {
  const Json* v = find(object, key);
  if (!v) return fallback ? Result<std::string>(*fallback) : missing(key, what);
  if (v->is_string()) return v->get<std::string>();
  return wrong_type(key, what, "a string", *v);
}

}  // namespace nmc
