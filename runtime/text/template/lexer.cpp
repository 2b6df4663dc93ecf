// The outer half of the lexer: text, tags, comments and raw blocks.
//
// White space around tags follows three rules of Jinja: a `-` sign strips all of it; otherwise a
// block or comment alone on its line loses the blanks before it (lstrip_blocks, unless `+`); and
// the line break right after a block or comment goes too (trim_blocks, unless `+`).
#include "runtime/text/template/lexer.h"

#include <cstring>

#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

// Line breaks become "\n", and one at the very end is dropped.
std::string normalize_newlines(const std::string& source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

int count_lines(std::string_view text) {
  int n = 0;
  for (char c : text) n += c == '\n';
  return n;
}

}  // namespace

Status syntax_error(int line, const std::string& cause) {
  return invalid_argument("template line " + std::to_string(line) + ": " + cause);
}

Lexer::Lexer(const std::string& source) : source_(normalize_newlines(source)) {}

void Lexer::add(Token::Kind kind, std::string text) {
  tokens_.push_back({.kind = kind, .line = line_, .text = std::move(text)});
}

void Lexer::advance_to(size_t at) {
  line_ += count_lines(std::string_view(source_).substr(at_, at - at_));
  at_ = at;
}

bool Lexer::looking_at(std::string_view what, size_t at) const {
  return source_.compare(at, what.size(), what) == 0;
}

size_t Lexer::skip_space(size_t at) const {
  return at + leading_space(std::string_view(source_).substr(at));
}

size_t Lexer::find_tag(size_t from) const {
  for (size_t at = from;; ++at) {
    at = source_.find('{', at);
    if (at == std::string::npos || at + 1 >= source_.size()) return source_.size();
    if (std::strchr("{%#", source_[at + 1]) && source_[at + 1] != '\0') return at;
  }
}

// Emits the text up to `end` where a tag with `sign` begins.
void Lexer::add_data(size_t end, char sign, bool is_variable) {
  std::string_view text = std::string_view(source_).substr(at_, end - at_);
  if (sign == '-') {
    text.remove_suffix(trailing_space(text));
  } else if (sign != '+' && !is_variable) {
    size_t line_start = text.rfind('\n') + 1;  // 0 when there is no line break
    bool starts_line = line_start > 0 || at_line_start_;
    if (starts_line && leading_space(text.substr(line_start)) == text.size() - line_start) {
      text = text.substr(0, line_start);
    }
  }
  if (!text.empty()) add(Token::Kind::kData, std::string(text));
  advance_to(end);
}

// Where the text goes on after a tag's end mark (`%}`, `#}` or `}}`) that starts at `mark`, which
// may have a sign before it. Stores the end of the tag, including what trimming removes.
size_t Lexer::after_tag(size_t mark, char sign, bool trims_line) const {
  size_t end = mark + 2;
  if (sign == '-') return skip_space(end);
  if (trims_line && sign != '+' && end < source_.size() && source_[end] == '\n') return end + 1;
  return end;
}

Status Lexer::comment(size_t begin) {
  size_t end = source_.find("#}", begin);
  if (end == std::string::npos) return syntax_error(line_, "a comment is not closed with #}");
  // The sign may not be the opening one as well: "{#-#}" opens with it.
  char sign = end > begin && std::strchr("-+", source_[end - 1]) ? source_[end - 1] : ' ';
  advance_to(after_tag(end, sign, true));
  return {};
}

// The end of a raw block whose body starts at at_: finds {% endraw %} with any signs.
Status Lexer::raw_block() {
  for (size_t at = source_.find("{%", at_); at != std::string::npos;
       at = source_.find("{%", at + 1)) {
    size_t p = at + 2;
    char open_sign = p < source_.size() && std::strchr("-+", source_[p]) ? source_[p++] : ' ';
    p = skip_space(p);
    if (!looking_at("endraw", p)) continue;
    p = skip_space(p + 6);
    char close_sign = p < source_.size() && std::strchr("-+", source_[p]) ? source_[p++] : ' ';
    if (!looking_at("%}", p)) continue;
    add_data(at, open_sign, false);
    advance_to(after_tag(p, close_sign, true));
    return {};
  }
  return syntax_error(line_, "a raw block is not closed with {% endraw %}");
}

// If a {% raw %} tag opens at `tag`, returns where its body starts.
size_t Lexer::raw_body(size_t tag) const {
  size_t p = tag + 2;
  if (p < source_.size() && std::strchr("-+", source_[p])) ++p;
  p = skip_space(p);
  if (!looking_at("raw", p)) return 0;
  p = skip_space(p + 3);
  if (looking_at("-%}", p)) return skip_space(p + 3);
  return looking_at("%}", p) ? p + 2 : 0;
}

Status Lexer::run() {
  while (at_ < source_.size()) {
    size_t tag = find_tag(at_);
    if (tag == source_.size()) {
      add(Token::Kind::kData, source_.substr(at_));
      break;
    }
    char kind = source_[tag + 1];
    size_t inside = tag + 2;
    char sign = inside < source_.size() ? source_[inside] : ' ';
    if (sign == '-' || sign == '+') {
      ++inside;
    } else {
      sign = ' ';
    }
    add_data(tag, sign, kind == '{');
    if (kind == '#') {
      NMC_TRY(comment(inside));
    } else if (size_t body = kind == '%' ? raw_body(tag) : 0; body != 0) {
      advance_to(body);
      at_line_start_ = source_[at_ - 1] == '\n';
      NMC_TRY(raw_block());
    } else {
      bool block = kind == '%';
      add(block ? Token::Kind::kBlockBegin : Token::Kind::kVariableBegin);
      advance_to(inside);
      NMC_TRY(tag_body(block));
    }
    at_line_start_ = source_[at_ - 1] == '\n';
  }
  add(Token::Kind::kEnd);
  return {};
}

Result<std::vector<Token>> tokenize(const std::string& source) {
  Lexer lexer(source);
  NMC_TRY(lexer.run());
  return lexer.take();
}

}  // namespace nmc::jinja
