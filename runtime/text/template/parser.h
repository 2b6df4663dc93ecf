// Recursive descent from tokens to the tree. One use per parser.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/template/token.h"
#include "runtime/text/template/tree.h"

namespace nmc::jinja {

class Parser {
 public:
  // `max_depth` bounds nesting, of the parser's own recursion and of the tree.
  Parser(std::vector<Token> tokens, int max_depth)
      : tokens_(std::move(tokens)), max_depth_(max_depth) {}

  Result<Body> parse();

 private:
  using Kind = Token::Kind;

  // Token helpers.
  const Token& current() const { return tokens_[at_]; }
  const Token& look_ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  void next() { at_ += at_ + 1 < tokens_.size(); }
  bool at_name(std::string_view name) const;
  bool at_operator(std::string_view op) const;
  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view op);
  Status expect_operator(std::string_view op);
  Status expect_name(std::string_view name);
  Result<std::string> expect_any_name();
  Status fail(const std::string& cause) const;
  std::string describe_current() const;

  // Statements, parser.cpp and parser_blocks.cpp. A body ends at a block that starts with one of
  // the names; that name stays current.
  using Names = std::initializer_list<std::string_view>;
  Result<Body> body_until(Names end);
  Result<Body> body_closed_by(std::string_view end);
  Result<Statement> statement();
  Result<Statement> print_tag();
  Result<Statement> if_block();
  Result<Statement> for_block();
  Result<Statement> set_tag();
  Result<Statement> macro_block();
  Result<Statement> call_block();
  Result<Statement> filter_block();
  Result<Statement> with_block();
  Result<Statement> scope_block(std::string_view name);
  Result<Target> target(bool with_namespace);
  Result<Target> target_item();
  Result<std::shared_ptr<Signature>> signature();
  void note_special_names(size_t begin, Signature* signature) const;

  // Expressions, parser_expression.cpp and parser_postfix.cpp.
  Result<ExprPtr> expression(bool with_conditional = true);
  Result<ExprPtr> tuple(bool with_conditional = true, bool parenthesized = false);
  bool at_tuple_end() const;
  Result<ExprPtr> conditional();
  Result<ExprPtr> disjunction();
  Result<ExprPtr> conjunction();
  Result<ExprPtr> negation();
  Result<ExprPtr> comparison();
  Result<ExprPtr> sum();
  Result<ExprPtr> concatenation();
  Result<ExprPtr> product();
  Result<ExprPtr> power();
  Result<ExprPtr> unary(bool with_filter = true);
  Result<ExprPtr> primary();
  Result<ExprPtr> list();
  Result<ExprPtr> dict();
  Result<ExprPtr> postfix(ExprPtr of);
  Result<ExprPtr> filters_and_tests(ExprPtr of);
  Result<ExprPtr> subscript(ExprPtr of);
  Result<ExprPtr> call(ExprPtr of);
  Result<ExprPtr> filter(ExprPtr of);
  Result<ExprPtr> test(ExprPtr of);
  Status call_arguments(CallSyntax* call);

  std::unique_ptr<Expr> make(Expr::Kind kind) const;
  // Sets the depth of a finished node and checks it.
  Result<ExprPtr> finish(std::unique_ptr<Expr> node);
  Status enter();
  void leave() { --depth_; }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // open `for` bodies, for break and continue
  int max_depth_;
};

}  // namespace nmc::jinja
