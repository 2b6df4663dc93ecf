// Values as text: Python's str, repr and json.dumps.
#pragma once

#include <optional>
#include <string>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// str(value): what {{ value }} prints. Undefined is empty.
MarkedText to_text(const Value& value);

// repr(value): as to_text, with quotes around strings.
MarkedText to_repr(const Value& value);

struct JsonStyle {
  std::optional<std::string> indent;  // one level's worth; absent: one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
  bool ensure_ascii = false;
};

// json.dumps(value). Errors: values that JSON does not know.
Result<MarkedText> to_json(const Value& value, const JsonStyle& style);

}  // namespace nmc::jinja
