#include "runtime/text/template/repr.h"

#include <cstdio>

#include "runtime/text/template/number_text.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

void append_char_repr(std::string* out, char32_t c, char quote) {
  if (c == static_cast<unsigned char>(quote) || c == '\\') {
    (*out += '\\') += static_cast<char>(c);
  } else if (c == '\n') {
    *out += "\\n";
  } else if (c == '\r') {
    *out += "\\r";
  } else if (c == '\t') {
    *out += "\\t";
  } else if (is_printable(c)) {
    append_char(out, c);
  } else {
    char buffer[12];
    const char* format = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
    std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(c));
    *out += buffer;
  }
}

// Single quotes, unless the text has single and no double ones.
void append_string_repr(MarkedText* out, const MarkedText& text) {
  bool has_single = text.bytes().find('\'') != std::string::npos;
  bool has_double = text.bytes().find('"') != std::string::npos;
  char quote = has_single && !has_double ? '"' : '\'';
  out->append(std::string(1, quote));
  text.for_each_run([&](std::string_view run, bool literal) {
    std::string escaped;
    for (size_t at = 0; at < run.size();) append_char_repr(&escaped, next_char(run, &at), quote);
    out->append(escaped, literal);
  });
  out->append(std::string(1, quote));
}

void append_repr(MarkedText* out, const Value& v) {
  if (const MarkedText* text = v.text()) {
    append_string_repr(out, *text);
  } else if (const List* list = v.list()) {
    out->append(list->tuple ? "(" : "[");
    for (size_t i = 0; i < list->items.size(); ++i) {
      if (i > 0) out->append(", ");
      append_repr(out, list->items[i]);
    }
    if (list->tuple) {
      out->append(list->items.size() == 1 ? ",)" : ")");
    } else {
      out->append("]");
    }
  } else if (const Dict* dict = v.dict()) {
    out->append("{");
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      if (i > 0) out->append(", ");
      append_repr(out, dict->entries[i].first);
      out->append(": ");
      append_repr(out, dict->entries[i].second);
    }
    out->append("}");
  } else if (v.is_none()) {
    out->append("None");
  } else if (v.is<bool>()) {
    out->append(v.truthy() ? "True" : "False");
  } else if (v.is<int64_t>()) {
    out->append(std::to_string(v.integer()));
  } else if (v.is<double>()) {
    out->append(float_repr(v.number()));
  } else if (v.is_undefined()) {
    out->append("Undefined");
  } else {
    out->append(std::string("<") + v.type_name() + ">");
  }
}

}  // namespace

MarkedText to_text(const Value& value) {
  if (value.text()) return *value.text();
  if (value.is_undefined()) return {};
  return to_repr(value);
}

MarkedText to_repr(const Value& value) {
  MarkedText out;
  append_repr(&out, value);
  return out;
}

}  // namespace nmc::jinja
