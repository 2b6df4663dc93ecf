#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/repr.h"

namespace nmc::jinja {

Result<RenderedPrompt> Interpreter::run() {
  NestedOutput output(*this);
  NestedScope top(*this, nullptr);
  auto flow = execute(template_.body);
  if (flow.ok()) return output.text.release();
  if (raised_) return flow.status();
  return flow.status().with_context("template line " + std::to_string(line_));
}

Status Interpreter::raise(const std::string& message) {
  raised_ = true;
  return invalid_argument("the chat template refuses this conversation: " + message);
}

Status Interpreter::enter() {
  if (++depth_ <= limits().calls) return {};
  return invalid_argument("the template calls itself deeper than " +
                          std::to_string(limits().calls) + " levels");
}

Result<Interpreter::Flow> Interpreter::execute(const Body& body) {
  for (const Statement& s : body) {
    NMC_TRY(charge_steps(1));
    NMC_TRY(enter());
    auto flow = execute(s);
    --depth_;
    if (!flow.ok() || *flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::execute(const Statement& s) {
  using K = Statement::Kind;
  line_ = s.line;
  switch (s.kind) {
    case K::kData:
      NMC_TRY(emit(s.data));
      return Flow::kNext;
    case K::kPrint: {
      NMC_ASSIGN(Value v, eval(*s.expr));
      NMC_TRY(print(v));
      return Flow::kNext;
    }
    case K::kIf:
      for (const Branch& branch : s.branches) {
        if (branch.condition) {
          NMC_ASSIGN(Value v, eval(*branch.condition));
          if (!v.truthy()) continue;
        }
        return execute(branch.body);
      }
      return Flow::kNext;
    case K::kFor:
      return for_loop(s);
    case K::kSet: {
      NMC_ASSIGN(Value v, eval(*s.expr));
      NMC_TRY(assign(s.target, v));
      return Flow::kNext;
    }
    case K::kSetBlock:
      NMC_TRY(set_block(s));
      return Flow::kNext;
    case K::kMacro:
      define_macro(s);
      return Flow::kNext;
    case K::kCallBlock:
      NMC_TRY(call_block(s));
      return Flow::kNext;
    case K::kFilterBlock:
      NMC_TRY(filter_block(s));
      return Flow::kNext;
    case K::kWith: {
      // Values see the names outside, not one another.
      std::vector<Value> values;
      for (const auto& [target, expr] : s.assignments) {
        NMC_ASSIGN(Value v, eval(*expr));
        values.push_back(std::move(v));
      }
      NestedScope scope(*this);
      for (size_t i = 0; i < values.size(); ++i) NMC_TRY(assign(s.assignments[i].first, values[i]));
      return execute(s.body);
    }
    case K::kScope:
      return execute_in_scope(s.body);
    case K::kBreak:
      return Flow::kBreak;
    case K::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::execute_in_scope(const Body& body) {
  NestedScope scope(*this);
  return execute(body);
}

Status Interpreter::print(const Value& v) {
  NMC_ASSIGN(Value text, to_string(v));
  return emit(*text.text());
}

Status Interpreter::emit(const MarkedText& text) {
  NMC_TRY(charge_bytes(text.size()));
  if (out_->size() + text.size() > limits().output_bytes) {
    return invalid_argument("the template writes more than " +
                            std::to_string(limits().output_bytes) + " bytes");
  }
  out_->append(text);
  return {};
}

Status Interpreter::assign(const Target& target, const Value& v) {
  if (!target.parts.empty()) {
    NMC_ASSIGN(auto items, iterate(v));
    if (items->items.size() != target.parts.size()) {
      return invalid_argument("cannot assign " + std::to_string(items->items.size()) +
                              " values to " + std::to_string(target.parts.size()) + " names");
    }
    for (size_t i = 0; i < target.parts.size(); ++i) {
      NMC_TRY(assign(target.parts[i], items->items[i]));
    }
    return {};
  }
  if (target.attribute.empty()) {
    scope_->set(target.name, v);
    return {};
  }
  NMC_ASSIGN(Value object, lookup(target.name));
  Namespace* ns = object.name_space();
  if (!ns) {
    return invalid_argument("'" + target.name + "' is no namespace, so '" + target.name + "." +
                            target.attribute + "' cannot be set");
  }
  for (auto& [name, value] : ns->attributes) {
    if (name != target.attribute) continue;
    value = v;
    return {};
  }
  ns->attributes.emplace_back(target.attribute, v);
  return charge_bytes(sizeof(Value) + target.attribute.size());
}

// The body's output as a string. break and continue cannot leave it: the parser lets them reach
// only loops inside, and a loop around a captured body ends the capture as in Python.
Result<Value> Interpreter::capture(const Body& body) {
  NestedOutput output(*this);
  NMC_TRY(execute_in_scope(body).status());
  return Value(std::move(output.text));
}

Status Interpreter::set_block(const Statement& s) {
  NMC_ASSIGN(Value text, capture(s.body));
  if (s.expr) {
    NMC_ASSIGN(text, eval_filter_chain(*s.expr, text));
  }
  return assign(s.target, text);
}

Status Interpreter::filter_block(const Statement& s) {
  NMC_ASSIGN(Value text, capture(s.body));
  NMC_ASSIGN(Value filtered, eval_filter_chain(*s.expr, text));
  return print(filtered);
}

Result<Value> Interpreter::eval_filter_chain(const Expr& e, const Value& head) {
  if (!e.operands[0]) return eval_filter(e, head);
  NMC_ASSIGN(Value input, eval_filter_chain(*e.operands[0], head));
  return eval_filter(e, input);
}

Result<Value> Interpreter::apply_filter(const std::string& name, const Value& input,
                                        Arguments arguments) {
  Filter filter = find_filter(name);
  if (!filter) return invalid_argument("unknown filter '" + name + "'");
  NMC_TRY(charge_steps(input.weight()));
  return filter(*this, input, std::move(arguments));
}

Result<bool> Interpreter::apply_test(const std::string& name, const Value& input,
                                     Arguments arguments) {
  Test test = find_test(name);
  if (!test) return invalid_argument("unknown test '" + name + "'");
  return test(*this, input, std::move(arguments));
}

std::tm Interpreter::now() const {
  if (template_.options.clock) return template_.options.clock();
  std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  return local;
}

}  // namespace nmc::jinja
