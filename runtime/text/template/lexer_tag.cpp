// The inner half of the lexer: names, numbers, strings and operators inside a tag.
#include <charconv>
#include <cstring>

#include "runtime/text/template/lexer.h"
#include "runtime/text/template/string_escape.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

bool is_digit_byte(char c) {
  return c >= '0' && c <= '9';
}

// Names may hold any character beyond ASCII; Python's finer rules change no rendering.
bool is_name_byte(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit_byte(c) ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

// Takes the end of the tag if it stands here.
bool Lexer::tag_end(bool block) {
  const char* mark = block ? "%}" : "}}";
  char sign = source_[at_];
  bool has_sign = (sign == '-' || (sign == '+' && block)) && looking_at(mark, at_ + 1);
  if (!has_sign && !looking_at(mark, at_)) return false;
  add(block ? Token::Kind::kBlockEnd : Token::Kind::kVariableEnd);
  advance_to(after_tag(at_ + has_sign, has_sign ? sign : ' ', block));
  return true;
}

Status Lexer::operator_token(std::string* open_brackets) {
  static constexpr const char* kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                               "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                               ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
  for (const char* op : kOperators) {
    if (!looking_at(op, at_)) continue;
    if (const char* opening = std::strchr("([{", op[0])) {
      *open_brackets += ")]}"[opening - "([{"];
    }
    if (std::strchr(")]}", op[0])) {
      if (open_brackets->empty() || open_brackets->back() != op[0]) {
        return syntax_error(line_, std::string("'") + op + "' closes no bracket");
      }
      open_brackets->pop_back();
    }
    add(Token::Kind::kOperator, op);
    advance_to(at_ + std::strlen(op));
    return {};
  }
  return syntax_error(
      line_, "unexpected character '" + source_.substr(at_, utf8_length(source_[at_])) + "'");
}

Status Lexer::number() {
  size_t end = at_;
  bool is_float = false;
  auto digits = [&] {
    while (end < source_.size() && (is_digit_byte(source_[end]) || source_[end] == '_')) ++end;
  };
  auto digit_at = [&](size_t i) { return i < source_.size() && is_digit_byte(source_[i]); };
  digits();
  if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
    is_float = true;
    ++end;
    digits();
  }
  if (end < source_.size() && std::strchr("eE", source_[end])) {
    size_t exponent = end + 1;
    if (exponent < source_.size() && std::strchr("+-", source_[exponent])) ++exponent;
    if (digit_at(exponent)) {
      is_float = true;
      end = exponent;
      digits();
    }
  }
  std::string text;
  for (size_t i = at_; i < end; ++i) {
    if (source_[i] != '_') text += source_[i];
  }
  add(is_float ? Token::Kind::kFloat : Token::Kind::kInteger, text);
  Token& token = tokens_.back();
  const char* last = text.data() + text.size();
  auto parsed = is_float ? std::from_chars(text.data(), last, token.number)
                         : std::from_chars(text.data(), last, token.integer);
  if (parsed.ec != std::errc() || parsed.ptr != last) {
    return syntax_error(line_, "the number " + text + " is out of range");
  }
  advance_to(end);
  return {};
}

Status Lexer::string_literal() {
  char quote = source_[at_];
  size_t end = at_ + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) return syntax_error(line_, "a string is not closed");
  auto text = unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1));
  if (!text.ok()) return syntax_error(line_, text.status().message());
  add(Token::Kind::kString, std::move(*text));
  advance_to(end + 1);
  return {};
}

Status Lexer::tag_body(bool block) {
  std::string open_brackets;  // the closing ones that are due: a tag cannot end before them
  for (;;) {
    advance_to(skip_space(at_));
    if (at_ >= source_.size()) {
      return syntax_error(line_, std::string("a tag is not closed with ") + (block ? "%}" : "}}"));
    }
    if (open_brackets.empty() && tag_end(block)) return {};
    char c = source_[at_];
    if (is_digit_byte(c)) {
      NMC_TRY(number());
    } else if (c == '"' || c == '\'') {
      NMC_TRY(string_literal());
    } else if (is_name_byte(c)) {
      size_t end = at_;
      while (end < source_.size() && is_name_byte(source_[end])) ++end;
      add(Token::Kind::kName, source_.substr(at_, end - at_));
      advance_to(end);
    } else {
      NMC_TRY(operator_token(&open_brackets));
    }
  }
}

}  // namespace nmc::jinja
