#include "runtime/text/template/text_edit.h"

#include <cstdint>
#include <string>

#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

// Builds a text character by character; f(out, c, index) appends what stands for c.
template <typename F>
MarkedText map_chars(const MarkedText& text, F f) {
  MarkedText out;
  text.for_each_run([&](std::string_view run, bool literal) {
    std::string mapped;
    mapped.reserve(run.size());
    for (size_t at = 0; at < run.size();) f(&mapped, next_char(run, &at));
    out.append(mapped, literal);
  });
  return out;
}

bool has_char(const std::string& set, char32_t c) {
  for (size_t at = 0; at < set.size();) {
    if (next_char(set, &at) == c) return true;
  }
  return false;
}

bool is_line_end(char32_t c) {
  return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

}  // namespace

MarkedText strip(const MarkedText& text, const std::string* chars, bool left, bool right) {
  auto goes = [&](char32_t c) { return chars ? has_char(*chars, c) : is_space(c); };
  const std::string& bytes = text.bytes();
  size_t begin = 0, end = bytes.size();
  while (left && begin < end) {
    size_t next = begin;
    if (!goes(next_char(bytes, &next))) break;
    begin = next;
  }
  while (right && end > begin) {
    size_t start = end - 1;
    while (start > begin && (static_cast<unsigned char>(bytes[start]) & 0xc0) == 0x80) --start;
    size_t at = start;
    if (!goes(next_char(bytes, &at))) break;
    end = start;
  }
  return text.slice(begin, end);
}

MarkedText replace(const MarkedText& text, const std::string& from, const MarkedText& to,
                   int64_t count) {
  const std::string& bytes = text.bytes();
  MarkedText out;
  size_t at = 0;
  while (count != 0 && at <= bytes.size()) {
    size_t found = bytes.find(from, at);
    if (found == std::string::npos) break;
    out.append(text.slice(at, found));
    out.append(to);
    at = found + from.size();
    if (count > 0) --count;
    if (!from.empty()) continue;
    // The empty string stands before every character and at the end.
    if (at == bytes.size()) return out;
    size_t next = at + utf8_length(bytes[at]);
    out.append(text.slice(at, next));
    at = next;
  }
  out.append(text.slice(at, bytes.size()));
  return out;
}

MarkedText upper(const MarkedText& text) {
  return map_chars(text, append_upper);
}

MarkedText lower(const MarkedText& text) {
  return map_chars(text, append_lower);
}

MarkedText capitalize(const MarkedText& text) {
  bool first = true;
  return map_chars(text, [&](std::string* out, char32_t c) {
    first ? append_title(out, c) : append_lower(out, c);
    first = false;
  });
}

MarkedText title_case(const MarkedText& text) {
  bool in_word = false;
  return map_chars(text, [&](std::string* out, char32_t c) {
    in_word ? append_lower(out, c) : append_title(out, c);
    in_word = is_upper(c) || is_lower(c);
  });
}

MarkedText pad(const MarkedText& text, size_t left, size_t right, std::string_view fill) {
  MarkedText out;
  for (size_t i = 0; i < left; ++i) out.append(fill);
  out.append(text);
  for (size_t i = 0; i < right; ++i) out.append(fill);
  return out;
}

MarkedText join(const std::vector<MarkedText>& parts, const MarkedText& separator) {
  MarkedText out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(parts[i]);
  }
  return out;
}

std::vector<MarkedText> split_lines(const MarkedText& text, bool keep_ends) {
  const std::string& bytes = text.bytes();
  std::vector<MarkedText> lines;
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    size_t end = at;
    char32_t c = next_char(bytes, &at);
    if (!is_line_end(c)) continue;
    if (c == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
    lines.push_back(text.slice(begin, keep_ends ? at : end));
    begin = at;
  }
  if (begin < bytes.size()) lines.push_back(text.slice(begin, bytes.size()));
  return lines;
}

}  // namespace nmc::jinja
