// json.dumps, byte for byte.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/text/template/compare.h"
#include "runtime/text/template/number_text.h"
#include "runtime/text/template/repr.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

void append_unicode_escape(std::string* out, unsigned unit) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", unit);
  *out += buffer;
}

void append_escaped(std::string* out, char32_t c, bool ensure_ascii) {
  static constexpr std::string_view kNamed = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
  size_t named = c < 0x80 ? kNamed.find(static_cast<char>(c)) : std::string_view::npos;
  if (named != std::string_view::npos) {
    (*out += '\\') += kLetters[named];
  } else if (c < 0x20 || (ensure_ascii && c >= 0x7f && c < 0x10000 && c != 0x7f)) {
    append_unicode_escape(out, static_cast<unsigned>(c));
  } else if (ensure_ascii && c >= 0x10000) {
    append_unicode_escape(out, 0xd800 + static_cast<unsigned>((c - 0x10000) >> 10));
    append_unicode_escape(out, 0xdc00 + static_cast<unsigned>((c - 0x10000) & 0x3ff));
  } else {
    append_char(out, c);
  }
}

class Writer {
 public:
  explicit Writer(const JsonStyle& style) : style_(style) {}

  Status write(const Value& v, int level) {
    if (v.text()) {
      write_string(*v.text());
    } else if (v.list()) {
      return write_list(*v.list(), level);
    } else if (v.dict()) {
      return write_dict(*v.dict(), level);
    } else if (auto scalar = scalar_text(v); !scalar.empty()) {
      out_.append(scalar);
    } else {
      return invalid_argument(std::string("tojson cannot write a value of type ") + v.type_name());
    }
    return {};
  }

  MarkedText take() { return std::move(out_); }

 private:
  static std::string scalar_text(const Value& v) {
    if (v.is_none()) return "null";
    if (v.is<bool>()) return v.truthy() ? "true" : "false";
    if (v.is<int64_t>()) return std::to_string(v.integer());
    if (!v.is<double>()) return "";
    if (std::isnan(v.number())) return "NaN";
    if (std::isinf(v.number())) return v.number() < 0 ? "-Infinity" : "Infinity";
    return float_repr(v.number());
  }

  void write_string(const MarkedText& text) {
    out_.append("\"");
    text.for_each_run([&](std::string_view run, bool literal) {
      std::string escaped;
      escaped.reserve(run.size());
      for (size_t at = 0; at < run.size();) {
        append_escaped(&escaped, next_char(run, &at), style_.ensure_ascii);
      }
      out_.append(escaped, literal);
    });
    out_.append("\"");
  }

  void new_line(int level) {
    if (!style_.indent) return;
    out_.append("\n");
    for (int i = 0; i < level; ++i) out_.append(*style_.indent);
  }

  Status write_list(const List& list, int level) {
    if (list.items.empty()) {
      out_.append("[]");
      return {};
    }
    out_.append("[");
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator);
      new_line(level + 1);
      NMC_TRY(write(list.items[i], level + 1));
    }
    new_line(level);
    out_.append("]");
    return {};
  }

  Status write_dict(const Dict& dict, int level) {
    if (dict.entries.empty()) {
      out_.append("{}");
      return {};
    }
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [](auto* a, auto* b) {
        auto r = less(a->first, b->first);
        return r.ok() && *r;
      });
    }
    out_.append("{");
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator);
      new_line(level + 1);
      const Value& key = entries[i]->first;
      if (key.text()) {
        write_string(*key.text());
      } else if (auto scalar = scalar_text(key); !scalar.empty()) {
        out_.append("\"" + scalar + "\"");
      } else {
        return invalid_argument(std::string("tojson cannot write a key of type ") +
                                key.type_name());
      }
      out_.append(style_.key_separator);
      NMC_TRY(write(entries[i]->second, level + 1));
    }
    new_line(level);
    out_.append("}");
    return {};
  }

  const JsonStyle& style_;
  MarkedText out_;
};

}  // namespace

Result<MarkedText> to_json(const Value& value, const JsonStyle& style) {
  Writer writer(style);
  NMC_TRY(writer.write(value, 0));
  return writer.take();
}

}  // namespace nmc::jinja
