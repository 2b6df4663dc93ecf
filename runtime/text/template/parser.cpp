// Token helpers, bodies and the choice of statement.
#include "runtime/text/template/parser.h"

#include <algorithm>

namespace nmc::jinja {

bool Parser::at_name(std::string_view name) const {
  return current().kind == Kind::kName && current().text == name;
}

bool Parser::at_operator(std::string_view op) const {
  return current().kind == Kind::kOperator && current().text == op;
}

bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  next();
  return true;
}

bool Parser::skip_operator(std::string_view op) {
  if (!at_operator(op)) return false;
  next();
  return true;
}

std::string Parser::describe_current() const {
  switch (current().kind) {
    case Kind::kEnd:
      return "the end of the template";
    case Kind::kBlockEnd:
      return "'%}'";
    case Kind::kVariableEnd:
      return "'}}'";
    case Kind::kBlockBegin:
      return "'{%'";
    case Kind::kVariableBegin:
      return "'{{'";
    case Kind::kData:
      return "text";
    case Kind::kString:
      return "a string";
    default:
      return "'" + current().text + "'";
  }
}

Status Parser::fail(const std::string& cause) const {
  return syntax_error(current().line, cause);
}

Status Parser::expect_operator(std::string_view op) {
  if (skip_operator(op)) return {};
  return fail("expected '" + std::string(op) + "', found " + describe_current());
}

Status Parser::expect_name(std::string_view name) {
  if (skip_name(name)) return {};
  return fail("expected '" + std::string(name) + "', found " + describe_current());
}

Result<std::string> Parser::expect_any_name() {
  if (current().kind != Kind::kName) return fail("expected a name, found " + describe_current());
  std::string name = current().text;
  next();
  return name;
}

Status Parser::enter() {
  if (++depth_ <= max_depth_) return {};
  return fail("the template nests deeper than " + std::to_string(max_depth_) + " levels");
}

Result<Body> Parser::parse() {
  return body_until({});
}

Result<Body> Parser::body_until(Names end) {
  NMC_TRY(enter());
  int opened_at = tokens_[at_ > 0 ? at_ - 1 : 0].line;  // of the tag before the body
  Body body;
  while (current().kind != Kind::kEnd) {
    if (current().kind == Kind::kData) {
      Statement data;
      data.line = current().line;
      data.data = MarkedText(current().text);
      next();
      body.push_back(std::move(data));
    } else if (current().kind == Kind::kVariableBegin) {
      next();
      Statement print;
      print.kind = Statement::Kind::kPrint;
      print.line = current().line;
      NMC_ASSIGN(print.expr, tuple());
      if (current().kind != Kind::kVariableEnd) {
        return fail("expected '}}', found " + describe_current());
      }
      next();
      body.push_back(std::move(print));
    } else {
      next();  // the only other token at this level is {%
      if (std::any_of(end.begin(), end.end(), [&](auto name) { return at_name(name); })) {
        leave();
        return body;
      }
      NMC_ASSIGN(Statement s, statement());
      if (current().kind != Kind::kBlockEnd) {
        return fail("expected '%}', found " + describe_current());
      }
      next();
      body.push_back(std::move(s));
    }
  }
  if (end.size() != 0) {
    return syntax_error(opened_at,
                        "a block is not closed with {% " + std::string(end.end()[-1]) + " %}");
  }
  leave();
  return body;
}

// The rest of the opening tag, a body, and the name of the closing tag.
Result<Body> Parser::body_closed_by(std::string_view end) {
  if (current().kind != Kind::kBlockEnd) {
    return fail("expected '%}', found " + describe_current());
  }
  next();
  NMC_ASSIGN(Body body, body_until({end}));
  next();
  return body;
}

Result<Statement> Parser::statement() {
  int line = current().line;
  NMC_ASSIGN(std::string name, expect_any_name());
  Result<Statement> s = [&]() -> Result<Statement> {
    if (name == "if") return if_block();
    if (name == "for") return for_block();
    if (name == "set") return set_tag();
    if (name == "macro") return macro_block();
    if (name == "call") return call_block();
    if (name == "filter") return filter_block();
    if (name == "with") return with_block();
    if (name == "print") return print_tag();
    if (name == "generation" || name == "block" || name == "autoescape") return scope_block(name);
    if (name == "break" || name == "continue") {
      if (loops_ == 0) return syntax_error(line, "'" + name + "' stands outside of a loop");
      Statement jump;
      jump.kind = name == "break" ? Statement::Kind::kBreak : Statement::Kind::kContinue;
      return jump;
    }
    if (name == "include" || name == "import" || name == "from" || name == "extends") {
      return unsupported("template line " + std::to_string(line) + ": '" + name +
                         "' reads other templates, which chat templates cannot do");
    }
    return syntax_error(line, "unknown tag '" + name + "'");
  }();
  if (s.ok()) s->line = line;
  return s;
}

}  // namespace nmc::jinja
