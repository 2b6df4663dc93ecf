#include "runtime/text/template/attributes.h"
#include "runtime/text/template/compare.h"
#include "runtime/text/template/functions.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/operators.h"
#include "runtime/text/template/repr.h"

namespace nmc::jinja {

using K = Expr::Kind;

Result<Value> Interpreter::eval(const Expr& e) {
  line_ = e.line;
  NMC_TRY(charge_steps(1));
  if (e.kind == K::kConstant) return e.value;
  if (e.kind == K::kName) return lookup(e.name);
  NMC_TRY(enter());
  auto v = eval_kind(e);
  --depth_;
  return v;
}

Result<Value> Interpreter::eval_kind(const Expr& e) {
  switch (e.kind) {
    case K::kConstant:
      return e.value;
    case K::kName:
      return lookup(e.name);
    case K::kList:
    case K::kTuple:
      return eval_items(e);
    case K::kDict:
      return eval_dict(e);
    case K::kNot:
    case K::kAnd:
    case K::kOr:
      return eval_logic(e);
    case K::kNegate:
    case K::kPlus:
    case K::kBinary:
      return eval_binary(e);
    case K::kConcat:
      return eval_concat(e);
    case K::kCompare:
      return eval_compare(e);
    case K::kConditional:
      return eval_conditional(e);
    case K::kAttribute:
    case K::kSubscript:
      return eval_subscript(e);
    case K::kSlice:
      return eval_slice(e);
    case K::kCall:
      return eval_call(e);
    case K::kFilter: {
      NMC_ASSIGN(Value input, eval(*e.operands[0]));
      return eval_filter(e, input);
    }
    case K::kTest:
      return eval_test(e);
  }
  return Value();
}

Result<Value> Interpreter::lookup(const std::string& name) {
  if (const Value* v = scope_->find(name)) return *v;
  if (const Value* v = variables_.dict()->find_key(name)) return *v;
  if (auto function = find_function(name)) return Callable::make(name, function);
  return Value::undefined("'" + name + "' is undefined");
}

Result<Value> Interpreter::eval_optional(const ExprPtr& e) {
  return e ? eval(*e) : Result<Value>(Value());
}

Result<Value> Interpreter::eval_items(const Expr& e) {
  std::vector<Value> items;
  for (const ExprPtr& operand : e.operands) {
    NMC_ASSIGN(Value v, eval(*operand));
    items.push_back(std::move(v));
  }
  return make_list(std::move(items), e.kind == K::kTuple);
}

Result<Value> Interpreter::eval_dict(const Expr& e) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < e.operands.size(); i += 2) {
    NMC_ASSIGN(Value key, eval(*e.operands[i]));
    NMC_ASSIGN(Value value, eval(*e.operands[i + 1]));
    entries.emplace_back(std::move(key), std::move(value));
  }
  return make_dict(std::move(entries));
}

// `and` and `or` give one of their operands, as in Python.
Result<Value> Interpreter::eval_logic(const Expr& e) {
  NMC_ASSIGN(Value left, eval(*e.operands[0]));
  if (e.kind == K::kNot) return Value(!left.truthy());
  if (left.truthy() == (e.kind == K::kOr)) return left;
  return eval(*e.operands[1]);
}

Result<Value> Interpreter::eval_binary(const Expr& e) {
  NMC_ASSIGN(Value left, eval(*e.operands[0]));
  line_ = e.line;
  if (e.kind == K::kNegate) return negate(left);
  if (e.kind == K::kPlus) return plus(left);
  NMC_ASSIGN(Value right, eval(*e.operands[1]));
  line_ = e.line;
  // At most 16 bytes of result per unit of weight, or what `*` is allowed to make.
  NMC_TRY(charge_steps(1 + left.weight() / 16 + right.weight() / 16));
  NMC_ASSIGN(Value result, binary(e.name, left, right, limits().output_bytes));
  if (result.text()) NMC_TRY(charge_bytes(result.text()->size()));
  if (result.list()) NMC_TRY(charge_bytes(result.list()->items.size() * sizeof(Value)));
  return result;
}

Result<Value> Interpreter::eval_concat(const Expr& e) {
  MarkedText text;
  for (const ExprPtr& operand : e.operands) {
    NMC_ASSIGN(Value v, eval(*operand));
    NMC_ASSIGN(Value part, to_string(v));
    NMC_TRY(charge_bytes(part.text()->size()));
    text.append(*part.text());
  }
  return Value(std::move(text));
}

// a < b < c holds when both steps hold; the second is not looked at after a false one.
Result<Value> Interpreter::eval_compare(const Expr& e) {
  NMC_ASSIGN(Value left, eval(*e.operands[0]));
  for (size_t i = 0; i < e.operators.size(); ++i) {
    NMC_ASSIGN(Value right, eval(*e.operands[i + 1]));
    line_ = e.line;
    NMC_TRY(charge_steps(std::min(left.weight(), right.weight())));
    if (e.operators[i].ends_with("in")) NMC_TRY(charge_steps(right.weight()));
    NMC_ASSIGN(bool holds, compare(e.operators[i], left, right));
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Interpreter::eval_conditional(const Expr& e) {
  NMC_ASSIGN(Value condition, eval(*e.operands[0]));
  if (condition.truthy()) return eval(*e.operands[1]);
  if (e.operands[2]) return eval(*e.operands[2]);
  return Value::undefined("the inline if was false and has no else");
}

Result<Value> Interpreter::eval_subscript(const Expr& e) {
  NMC_ASSIGN(Value object, eval(*e.operands[0]));
  line_ = e.line;
  if (e.kind == K::kAttribute) return get_attribute(object, e.name);
  NMC_ASSIGN(Value key, eval(*e.operands[1]));
  return get_item(*this, object, key);
}

Result<Value> Interpreter::eval_slice(const Expr& e) {
  NMC_ASSIGN(Value object, eval(*e.operands[0]));
  NMC_ASSIGN(Value start, eval_optional(e.operands[1]));
  NMC_ASSIGN(Value stop, eval_optional(e.operands[2]));
  NMC_ASSIGN(Value step, eval_optional(e.operands[3]));
  return get_slice(*this, object, start, stop, step);
}

Result<Arguments> Interpreter::eval_arguments(const CallSyntax& call) {
  Arguments arguments;
  for (const ExprPtr& e : call.positional) {
    NMC_ASSIGN(Value v, eval(*e));
    arguments.positional.push_back(std::move(v));
  }
  for (const auto& [name, e] : call.named) {
    NMC_ASSIGN(Value v, eval(*e));
    arguments.named.emplace_back(name, std::move(v));
  }
  if (call.star) {
    NMC_ASSIGN(Value v, eval(*call.star));
    NMC_ASSIGN(auto items, iterate(v));
    arguments.positional.insert(arguments.positional.end(), items->items.begin(),
                                items->items.end());
  }
  if (call.double_star) {
    NMC_ASSIGN(Value v, eval(*call.double_star));
    if (!v.dict()) return invalid_argument("the value after ** must be a dict");
    for (const auto& [key, value] : v.dict()->entries) {
      if (!key.text()) return invalid_argument("the keys after ** must be strings");
      arguments.named.emplace_back(key.text()->bytes(), value);
    }
  }
  return arguments;
}

Result<Value> Interpreter::eval_call(const Expr& e) {
  NMC_ASSIGN(Value callable, eval(*e.operands[0]));
  NMC_ASSIGN(Arguments arguments, eval_arguments(e.call));
  line_ = e.line;
  return call(callable, std::move(arguments));
}

Result<Value> Interpreter::call(const Value& callable, Arguments arguments) {
  if (callable.callable()) return callable.callable()->call(*this, std::move(arguments));
  if (callable.is_undefined()) return invalid_argument(callable.undefined_reason());
  if (Loop* loop = callable.loop(); loop && loop->recurse && arguments.positional.size() == 1) {
    return loop->recurse(*this, std::move(arguments.positional[0]));
  }
  return invalid_argument(std::string("a value of type ") + callable.type_name() +
                          " cannot be called");
}

Result<Value> Interpreter::eval_filter(const Expr& e, const Value& input) {
  NMC_ASSIGN(Arguments arguments, eval_arguments(e.call));
  line_ = e.line;
  return apply_filter(e.name, input, std::move(arguments));
}

Result<Value> Interpreter::eval_test(const Expr& e) {
  NMC_ASSIGN(Value input, eval(*e.operands[0]));
  NMC_ASSIGN(Arguments arguments, eval_arguments(e.call));
  line_ = e.line;
  NMC_ASSIGN(bool holds, apply_test(e.name, input, std::move(arguments)));
  return Value(holds);
}

}  // namespace nmc::jinja
