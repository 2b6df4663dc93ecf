// The lexer's state; `tokenize` in token.h is its use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/template/token.h"

namespace nmc::jinja {

class Lexer {
 public:
  explicit Lexer(const std::string& source);
  Status run();
  std::vector<Token> take() { return std::move(tokens_); }

 private:
  void add(Token::Kind kind, std::string text = {});
  void advance_to(size_t at);  // counts the lines on the way
  bool looking_at(std::string_view what, size_t at) const;
  size_t skip_space(size_t at) const;

  // Text level, lexer.cpp.
  size_t find_tag(size_t from) const;
  void add_data(size_t end, char sign, bool is_variable);
  size_t after_tag(size_t mark, char sign, bool trims_line) const;
  Status comment(size_t begin);
  size_t raw_body(size_t tag) const;
  Status raw_block();

  // Inside a tag, lexer_tag.cpp.
  Status tag_body(bool block);
  bool tag_end(bool block);
  Status operator_token(std::string* open_brackets);
  Status number();
  Status string_literal();

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;  // the character before at_ is a line break, or there is none
  std::vector<Token> tokens_;
};

}  // namespace nmc::jinja
