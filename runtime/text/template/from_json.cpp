#include "runtime/text/template/from_json.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace nmc::jinja {
namespace {

Value integer_from(const Json& json) {
  // Python's integers have no end; the few above 63 bits become floats here.
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
    return Value(static_cast<double>(json.get<uint64_t>()));
  }
  return Value(json.get<int64_t>());
}

Result<Value> convert(const Json& json, int depth, bool literal) {
  if (depth < 0) return invalid_argument("the variables of the chat template nest too deeply");
  auto text = [literal](const std::string& s) {
    return literal ? Value(MarkedText::literal(valid_utf8(s))) : Value(valid_utf8(s));
  };
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return integer_from(json);
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return text(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json) {
        NMC_ASSIGN(Value v, convert(item, depth - 1, literal));
        items.push_back(std::move(v));
      }
      return List::make(std::move(items));
    }
    case Json::value_t::object: {
      std::vector<std::pair<Value, Value>> entries;
      entries.reserve(json.size());
      for (const auto& [key, value] : json.items()) {
        NMC_ASSIGN(Value v, convert(value, depth - 1, literal));
        entries.emplace_back(text(key), std::move(v));
      }
      return Dict::make(std::move(entries));
    }
    default:
      return Value(None{});
  }
}

// Templates build markers such as <|user|> from roles, so these few words are trusted.
bool is_known_role(const Json& role) {
  static constexpr const char* kRoles[] = {"system", "developer", "user",  "assistant",
                                           "tool",   "function",  "model", "chatbot"};
  return role.is_string() && std::any_of(std::begin(kRoles), std::end(kRoles), [&](const char* r) {
           return role.get_ref<const std::string&>() == r;
         });
}

Result<Value> convert_message(const Json& message, int depth) {
  if (!message.is_object()) return convert(message, depth, true);
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, value] : message.items()) {
    bool trusted = key == "role" && is_known_role(value);
    NMC_ASSIGN(Value v, convert(value, depth - 1, !trusted));
    entries.emplace_back(Value(MarkedText::literal(valid_utf8(key))), std::move(v));
  }
  return Dict::make(std::move(entries));
}

}  // namespace

Result<Value> variables_from_json(const Json& variables, int max_depth) {
  if (!variables.is_object()) {
    return invalid_argument("the variables of a chat template must be a JSON object");
  }
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, value] : variables.items()) {
    Value converted;
    if (key == "messages" && value.is_array()) {
      std::vector<Value> messages;
      for (const Json& message : value) {
        NMC_ASSIGN(Value m, convert_message(message, max_depth - 2));
        messages.push_back(std::move(m));
      }
      converted = List::make(std::move(messages));
    } else {
      NMC_ASSIGN(converted, convert(value, max_depth - 1, !key.ends_with("_token")));
    }
    entries.emplace_back(Value(valid_utf8(key)), std::move(converted));
  }
  return Dict::make(std::move(entries));
}

}  // namespace nmc::jinja
