// Expressions, one function per level of precedence, loosest first.
#include <algorithm>

#include "runtime/text/template/parser.h"

namespace nmc::jinja {

using K = Expr::Kind;

std::unique_ptr<Expr> Parser::make(Expr::Kind kind) const {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->line = current().line;
  return node;
}

Result<ExprPtr> Parser::finish(std::unique_ptr<Expr> node) {
  auto below = [&](const ExprPtr& e) {
    if (e) node->depth = std::max(node->depth, e->depth + 1);
  };
  for (const ExprPtr& e : node->operands) below(e);
  for (const ExprPtr& e : node->call.positional) below(e);
  for (const auto& [name, e] : node->call.named) below(e);
  below(node->call.star);
  below(node->call.double_star);
  if (node->depth > max_depth_) {
    return fail("an expression nests deeper than " + std::to_string(max_depth_) + " levels");
  }
  return ExprPtr(std::move(node));
}

Result<ExprPtr> Parser::expression(bool with_conditional) {
  NMC_TRY(enter());
  auto e = with_conditional ? conditional() : disjunction();
  leave();
  return e;
}

bool Parser::at_tuple_end() const {
  return current().kind == Kind::kVariableEnd || current().kind == Kind::kBlockEnd ||
         at_operator(")") || at_name("in") || at_name("recursive");
}

Result<ExprPtr> Parser::tuple(bool with_conditional, bool parenthesized) {
  auto node = make(K::kTuple);
  bool is_tuple = false;
  while (!at_tuple_end()) {
    NMC_ASSIGN(ExprPtr item, expression(with_conditional));
    node->operands.push_back(std::move(item));
    if (!skip_operator(",")) break;
    is_tuple = true;
  }
  if (is_tuple || (parenthesized && node->operands.empty())) return finish(std::move(node));
  if (node->operands.empty()) return fail("expected an expression, found " + describe_current());
  return std::move(node->operands[0]);
}

Result<ExprPtr> Parser::conditional() {
  NMC_ASSIGN(ExprPtr then, disjunction());
  while (at_name("if")) {
    auto node = make(K::kConditional);
    next();
    NMC_ASSIGN(ExprPtr condition, disjunction());
    ExprPtr otherwise;
    if (skip_name("else")) {
      NMC_ASSIGN(otherwise, expression());
    }
    node->operands.push_back(std::move(condition));
    node->operands.push_back(std::move(then));
    node->operands.push_back(std::move(otherwise));
    NMC_ASSIGN(then, finish(std::move(node)));
  }
  return then;
}

Result<ExprPtr> Parser::disjunction() {
  NMC_ASSIGN(ExprPtr left, conjunction());
  while (at_name("or")) {
    auto node = make(K::kOr);
    next();
    NMC_ASSIGN(ExprPtr right, conjunction());
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    NMC_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExprPtr> Parser::conjunction() {
  NMC_ASSIGN(ExprPtr left, negation());
  while (at_name("and")) {
    auto node = make(K::kAnd);
    next();
    NMC_ASSIGN(ExprPtr right, negation());
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    NMC_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExprPtr> Parser::negation() {
  if (!at_name("not")) return comparison();
  NMC_TRY(enter());
  auto node = make(K::kNot);
  next();
  NMC_ASSIGN(ExprPtr operand, negation());
  leave();
  node->operands.push_back(std::move(operand));
  return finish(std::move(node));
}

Result<ExprPtr> Parser::comparison() {
  static constexpr std::string_view kOperators[] = {"==", "!=", "<", "<=", ">", ">="};
  NMC_ASSIGN(ExprPtr first, sum());
  auto node = make(K::kCompare);
  node->operands.push_back(std::move(first));
  for (;;) {
    std::string op;
    if (current().kind == Kind::kOperator && std::find(std::begin(kOperators), std::end(kOperators),
                                                       current().text) != std::end(kOperators)) {
      op = current().text;
    } else if (at_name("in")) {
      op = "in";
    } else if (at_name("not") && look_ahead().kind == Kind::kName && look_ahead().text == "in") {
      next();
      op = "not in";
    } else {
      break;
    }
    next();
    NMC_ASSIGN(ExprPtr operand, sum());
    node->operators.push_back(std::move(op));
    node->operands.push_back(std::move(operand));
  }
  if (node->operators.empty()) return std::move(node->operands[0]);
  return finish(std::move(node));
}

Result<ExprPtr> Parser::sum() {
  NMC_ASSIGN(ExprPtr left, concatenation());
  while (at_operator("+") || at_operator("-")) {
    auto node = make(K::kBinary);
    node->name = current().text;
    next();
    NMC_ASSIGN(ExprPtr right, concatenation());
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    NMC_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExprPtr> Parser::concatenation() {
  auto node = make(K::kConcat);
  do {
    NMC_ASSIGN(ExprPtr operand, product());
    node->operands.push_back(std::move(operand));
  } while (skip_operator("~"));
  if (node->operands.size() == 1) return std::move(node->operands[0]);
  return finish(std::move(node));
}

Result<ExprPtr> Parser::product() {
  NMC_ASSIGN(ExprPtr left, power());
  while (at_operator("*") || at_operator("/") || at_operator("//") || at_operator("%")) {
    auto node = make(K::kBinary);
    node->name = current().text;
    next();
    NMC_ASSIGN(ExprPtr right, power());
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    NMC_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExprPtr> Parser::power() {
  NMC_ASSIGN(ExprPtr left, unary());
  while (at_operator("**")) {
    auto node = make(K::kBinary);
    node->name = "**";
    next();
    NMC_ASSIGN(ExprPtr right, unary());
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    NMC_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExprPtr> Parser::unary(bool with_filter) {
  ExprPtr e;
  if (at_operator("-") || at_operator("+")) {
    NMC_TRY(enter());
    auto node = make(at_operator("-") ? K::kNegate : K::kPlus);
    next();
    NMC_ASSIGN(ExprPtr operand, unary(false));
    leave();
    node->operands.push_back(std::move(operand));
    NMC_ASSIGN(e, finish(std::move(node)));
  } else {
    NMC_ASSIGN(e, primary());
  }
  NMC_ASSIGN(e, postfix(std::move(e)));
  return with_filter ? filters_and_tests(std::move(e)) : std::move(e);
}

}  // namespace nmc::jinja
