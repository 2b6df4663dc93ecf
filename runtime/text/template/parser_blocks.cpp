// One function per kind of statement. The tag's name has been read; the closing %} of the
// statement's last tag is left to the caller.
#include <utility>

#include "runtime/text/template/parser.h"

namespace nmc::jinja {

Result<Statement> Parser::print_tag() {
  Statement s;
  s.kind = Statement::Kind::kPrint;
  NMC_ASSIGN(s.expr, expression());
  return s;
}

Result<Statement> Parser::if_block() {
  Statement s;
  s.kind = Statement::Kind::kIf;
  for (;;) {
    Branch branch;
    NMC_ASSIGN(branch.condition, tuple(false));
    if (current().kind != Kind::kBlockEnd) {
      return fail("expected '%}', found " + describe_current());
    }
    next();
    NMC_ASSIGN(branch.body, body_until({"elif", "else", "endif"}));
    s.branches.push_back(std::move(branch));
    if (skip_name("elif")) continue;
    if (skip_name("else")) {
      Branch last;
      NMC_ASSIGN(last.body, body_closed_by("endif"));
      s.branches.push_back(std::move(last));
    } else {
      next();
    }
    return s;
  }
}

Result<Statement> Parser::for_block() {
  Statement s;
  s.kind = Statement::Kind::kFor;
  NMC_ASSIGN(s.target, target(false));
  NMC_TRY(expect_name("in"));
  NMC_ASSIGN(s.expr, tuple(false));
  if (skip_name("if")) {
    NMC_ASSIGN(s.condition, expression());
  }
  s.recursive = skip_name("recursive");
  if (current().kind != Kind::kBlockEnd) {
    return fail("expected '%}', found " + describe_current());
  }
  next();
  ++loops_;
  NMC_ASSIGN(s.body, body_until({"else", "endfor"}));
  --loops_;
  if (skip_name("else")) {
    NMC_ASSIGN(s.else_body, body_closed_by("endfor"));
  } else {
    next();
  }
  return s;
}

Result<Statement> Parser::set_tag() {
  Statement s;
  NMC_ASSIGN(s.target, target(true));
  if (skip_operator("=")) {
    s.kind = Statement::Kind::kSet;
    NMC_ASSIGN(s.expr, tuple());
    return s;
  }
  s.kind = Statement::Kind::kSetBlock;
  while (at_operator("|")) {
    NMC_ASSIGN(s.expr, filter(std::move(s.expr)));
  }
  NMC_ASSIGN(s.body, body_closed_by("endset"));
  return s;
}

Result<Statement> Parser::macro_block() {
  Statement s;
  s.kind = Statement::Kind::kMacro;
  NMC_ASSIGN(s.name, expect_any_name());
  size_t begin = at_;
  NMC_ASSIGN(auto signature, this->signature());
  int loops = std::exchange(loops_, 0);  // a macro's body is outside of the loop around it
  NMC_ASSIGN(s.body, body_closed_by("endmacro"));
  loops_ = loops;
  note_special_names(begin, signature.get());
  s.signature = std::move(signature);
  return s;
}

Result<Statement> Parser::call_block() {
  Statement s;
  s.kind = Statement::Kind::kCallBlock;
  size_t begin = at_;
  auto signature = std::make_shared<Signature>();
  if (at_operator("(")) {
    NMC_ASSIGN(signature, this->signature());
  }
  NMC_ASSIGN(s.expr, expression());
  if (s.expr->kind != Expr::Kind::kCall) return fail("{% call %} needs a call");
  int loops = std::exchange(loops_, 0);
  NMC_ASSIGN(s.body, body_closed_by("endcall"));
  loops_ = loops;
  note_special_names(begin, signature.get());
  s.signature = std::move(signature);
  return s;
}

Result<Statement> Parser::filter_block() {
  Statement s;
  s.kind = Statement::Kind::kFilterBlock;
  --at_;  // `filter` reads the mark before the name, which here is the tag's own name
  NMC_ASSIGN(s.expr, filter(nullptr));
  while (at_operator("|")) {
    NMC_ASSIGN(s.expr, filter(std::move(s.expr)));
  }
  NMC_ASSIGN(s.body, body_closed_by("endfilter"));
  return s;
}

Result<Statement> Parser::with_block() {
  Statement s;
  s.kind = Statement::Kind::kWith;
  while (current().kind != Kind::kBlockEnd) {
    if (!s.assignments.empty()) NMC_TRY(expect_operator(","));
    NMC_ASSIGN(Target to, target(false));
    NMC_TRY(expect_operator("="));
    NMC_ASSIGN(ExprPtr value, expression());
    s.assignments.emplace_back(std::move(to), std::move(value));
  }
  NMC_ASSIGN(s.body, body_closed_by("endwith"));
  return s;
}

// Blocks whose body is simply rendered. What else the tag says (the name of a block, the value of
// autoescape) changes nothing here.
Result<Statement> Parser::scope_block(std::string_view name) {
  Statement s;
  s.kind = Statement::Kind::kScope;
  while (current().kind == Kind::kName) next();
  NMC_ASSIGN(s.body, body_closed_by("end" + std::string(name)));
  if (current().kind == Kind::kName) next();  // {% endblock NAME %}
  return s;
}

Result<Target> Parser::target_item() {
  NMC_TRY(enter());
  Target item;
  if (skip_operator("(")) {
    NMC_ASSIGN(item, target(false));
    NMC_TRY(expect_operator(")"));
  } else {
    NMC_ASSIGN(item.name, expect_any_name());
  }
  leave();
  return item;
}

Result<Target> Parser::target(bool with_namespace) {
  NMC_ASSIGN(Target first, target_item());
  if (with_namespace && !first.name.empty() && skip_operator(".")) {
    NMC_ASSIGN(first.attribute, expect_any_name());
    return first;
  }
  if (!at_operator(",")) return first;
  Target all;
  all.parts.push_back(std::move(first));
  while (skip_operator(",")) {
    if (current().kind != Kind::kName && !at_operator("(")) break;
    if (at_name("in")) break;
    NMC_ASSIGN(Target item, target_item());
    all.parts.push_back(std::move(item));
  }
  return all;
}

Result<std::shared_ptr<Signature>> Parser::signature() {
  auto signature = std::make_shared<Signature>();
  NMC_TRY(expect_operator("("));
  while (!at_operator(")")) {
    if (!signature->names.empty()) NMC_TRY(expect_operator(","));
    NMC_ASSIGN(std::string name, expect_any_name());
    if (skip_operator("=")) {
      NMC_ASSIGN(ExprPtr value, expression());
      signature->defaults.push_back(std::move(value));
    } else if (!signature->defaults.empty()) {
      return fail("a parameter without a default follows one with a default");
    }
    signature->names.push_back(std::move(name));
  }
  next();
  return signature;
}

// A macro accepts extra arguments only if it mentions where they go.
void Parser::note_special_names(size_t begin, Signature* signature) const {
  for (size_t i = begin; i < at_; ++i) {
    if (tokens_[i].kind != Kind::kName) continue;
    signature->takes_varargs |= tokens_[i].text == "varargs";
    signature->takes_kwargs |= tokens_[i].text == "kwargs";
    signature->takes_caller |= tokens_[i].text == "caller";
  }
}

}  // namespace nmc::jinja
