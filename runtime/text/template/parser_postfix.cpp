// The tight end of expressions: literals, attributes, subscripts, calls, filters and tests.
#include "runtime/text/template/parser.h"

namespace nmc::jinja {

using K = Expr::Kind;

Result<ExprPtr> Parser::primary() {
  auto node = make(K::kConstant);
  const Token& token = current();
  switch (token.kind) {
    case Kind::kName:
      if (token.text == "true" || token.text == "True") {
        node->value = Value(true);
      } else if (token.text == "false" || token.text == "False") {
        node->value = Value(false);
      } else if (token.text == "none" || token.text == "None") {
        node->value = Value(None{});
      } else {
        node->kind = K::kName;
        node->name = token.text;
      }
      next();
      return finish(std::move(node));
    case Kind::kString: {
      std::string text;  // neighbouring literals are one string
      for (; current().kind == Kind::kString; next()) text += current().text;
      node->value = Value(std::move(text));
      return finish(std::move(node));
    }
    case Kind::kInteger:
      node->value = Value(token.integer);
      break;
    case Kind::kFloat:
      node->value = Value(token.number);
      break;
    case Kind::kOperator:
      if (token.text == "[") return list();
      if (token.text == "{") return dict();
      if (token.text == "(") {
        next();
        NMC_ASSIGN(ExprPtr inner, tuple(true, true));
        NMC_TRY(expect_operator(")"));
        return inner;
      }
      [[fallthrough]];
    default:
      return fail("expected an expression, found " + describe_current());
  }
  next();
  return finish(std::move(node));
}

Result<ExprPtr> Parser::list() {
  auto node = make(K::kList);
  next();
  while (!at_operator("]")) {
    if (!node->operands.empty()) {
      NMC_TRY(expect_operator(","));
      if (at_operator("]")) break;
    }
    NMC_ASSIGN(ExprPtr item, expression());
    node->operands.push_back(std::move(item));
  }
  next();
  return finish(std::move(node));
}

Result<ExprPtr> Parser::dict() {
  auto node = make(K::kDict);
  next();
  while (!at_operator("}")) {
    if (!node->operands.empty()) {
      NMC_TRY(expect_operator(","));
      if (at_operator("}")) break;
    }
    NMC_ASSIGN(ExprPtr key, expression());
    NMC_TRY(expect_operator(":"));
    NMC_ASSIGN(ExprPtr value, expression());
    node->operands.push_back(std::move(key));
    node->operands.push_back(std::move(value));
  }
  next();
  return finish(std::move(node));
}

Result<ExprPtr> Parser::postfix(ExprPtr of) {
  for (;;) {
    if (at_operator(".") || at_operator("[")) {
      NMC_ASSIGN(of, subscript(std::move(of)));
    } else if (at_operator("(")) {
      NMC_ASSIGN(of, call(std::move(of)));
    } else {
      return of;
    }
  }
}

Result<ExprPtr> Parser::filters_and_tests(ExprPtr of) {
  for (;;) {
    if (at_operator("|")) {
      NMC_ASSIGN(of, filter(std::move(of)));
    } else if (at_name("is")) {
      NMC_ASSIGN(of, test(std::move(of)));
    } else if (at_operator("(")) {
      NMC_ASSIGN(of, call(std::move(of)));
    } else {
      return of;
    }
  }
}

Result<ExprPtr> Parser::subscript(ExprPtr of) {
  auto node = make(K::kSubscript);
  node->operands.push_back(std::move(of));
  if (skip_operator(".")) {
    if (current().kind == Kind::kInteger) {
      auto index = make(K::kConstant);
      index->value = Value(current().integer);
      node->operands.push_back(std::move(index));
      next();
    } else {
      node->kind = K::kAttribute;
      NMC_ASSIGN(node->name, expect_any_name());
    }
    return finish(std::move(node));
  }
  next();
  // Parts between colons; one part and no colon is a plain subscript.
  std::vector<ExprPtr> parts(1);
  if (!at_operator(":")) {
    NMC_ASSIGN(parts[0], expression());
  }
  while (at_operator(":") && parts.size() < 3) {
    next();
    parts.emplace_back();
    if (!at_operator(":") && !at_operator("]")) {
      NMC_ASSIGN(parts.back(), expression());
    }
  }
  NMC_TRY(expect_operator("]"));
  if (parts.size() > 1) {
    node->kind = K::kSlice;
    parts.resize(3);
  }
  for (ExprPtr& part : parts) node->operands.push_back(std::move(part));
  return finish(std::move(node));
}

Status Parser::call_arguments(CallSyntax* call) {
  NMC_TRY(expect_operator("("));
  for (bool first = true; !at_operator(")"); first = false) {
    if (!first) {
      NMC_TRY(expect_operator(","));
      if (at_operator(")")) break;
    }
    if (skip_operator("*")) {
      NMC_ASSIGN(call->star, expression());
    } else if (skip_operator("**")) {
      NMC_ASSIGN(call->double_star, expression());
    } else if (current().kind == Kind::kName && look_ahead().kind == Kind::kOperator &&
               look_ahead().text == "=") {
      std::string name = current().text;
      next();
      next();
      NMC_ASSIGN(ExprPtr value, expression());
      call->named.emplace_back(std::move(name), std::move(value));
    } else {
      if (call->star || call->double_star || !call->named.empty()) {
        return fail("a positional argument follows a named one");
      }
      NMC_ASSIGN(ExprPtr value, expression());
      call->positional.push_back(std::move(value));
    }
  }
  next();
  return {};
}

Result<ExprPtr> Parser::call(ExprPtr of) {
  auto node = make(K::kCall);
  node->operands.push_back(std::move(of));
  NMC_TRY(call_arguments(&node->call));
  return finish(std::move(node));
}

// `| name(...)`, or the head of a filter block: `filter name(...)`.
Result<ExprPtr> Parser::filter(ExprPtr of) {
  auto node = make(K::kFilter);
  next();
  node->operands.push_back(std::move(of));
  NMC_ASSIGN(node->name, expect_any_name());
  if (at_operator("(")) NMC_TRY(call_arguments(&node->call));
  return finish(std::move(node));
}

Result<ExprPtr> Parser::test(ExprPtr of) {
  auto node = make(K::kTest);
  next();
  bool negated = skip_name("not");
  node->operands.push_back(std::move(of));
  NMC_ASSIGN(node->name, expect_any_name());
  auto starts_argument = [&] {
    switch (current().kind) {
      case Kind::kString:
      case Kind::kInteger:
      case Kind::kFloat:
        return true;
      case Kind::kName:
        for (const char* word : {"else", "or", "and", "is", "if", "in", "not", "recursive"}) {
          if (current().text == word) return false;
        }
        return true;
      default:
        return at_operator("[") || at_operator("{");
    }
  };
  if (at_operator("(")) {
    NMC_TRY(call_arguments(&node->call));
  } else if (at_name("is")) {
    return fail("tests cannot be chained with 'is'");
  } else if (starts_argument()) {
    NMC_ASSIGN(ExprPtr argument, primary());
    NMC_ASSIGN(argument, postfix(std::move(argument)));
    node->call.positional.push_back(std::move(argument));
  }
  auto tested = finish(std::move(node));
  if (!negated || !tested.ok()) return tested;
  auto inverse = make(K::kNot);
  inverse->operands.push_back(std::move(*tested));
  return finish(std::move(inverse));
}

}  // namespace nmc::jinja
