// {% for %}. The items are fixed before the first pass, and each pass has a scope of its own.
#include "runtime/text/template/interpreter.h"

namespace nmc::jinja {

Result<Interpreter::Flow> Interpreter::for_loop(const Statement& s) {
  NMC_ASSIGN(Value over, eval(*s.expr));
  line_ = s.line;
  NMC_TRY(run_loop(s, over, 1));
  return Flow::kNext;
}

// The items that pass the loop's `if`.
Result<std::shared_ptr<const List>> Interpreter::loop_items(const Statement& s, const Value& over) {
  NMC_ASSIGN(auto items, iterate(over));
  if (!s.condition) return items;
  std::vector<Value> kept;
  for (const Value& item : items->items) {
    NestedScope scope(*this);
    NMC_TRY(assign(s.target, item));
    NMC_ASSIGN(Value keep, eval(*s.condition));
    if (keep.truthy()) kept.push_back(item);
  }
  NMC_ASSIGN(Value list, make_list(std::move(kept)));
  return list.shared_list();
}

Status Interpreter::run_loop(const Statement& s, const Value& over, int64_t level) {
  NMC_ASSIGN(auto items, loop_items(s, over));
  if (items->items.empty()) return execute_in_scope(s.else_body).status();
  NMC_TRY(charge_bytes(sizeof(Loop)));
  Loop* loop = make_loop();
  loop->items = items;
  loop->level = level;
  if (s.recursive) {
    std::weak_ptr<Scope> around = scope_;
    loop->recurse = [&s, around, level](Interpreter& in, Value inner) -> Result<Value> {
      auto scope = around.lock();
      if (!scope) return invalid_argument("a recursive loop is called after its end");
      NestedScope nested(in, std::move(scope));
      NestedOutput output(in);
      NMC_TRY(in.run_loop(s, inner, level + 1));
      return in.make_text(std::move(output.text));
    };
  }
  for (size_t i = 0; i < items->items.size(); ++i) {
    NMC_TRY(charge_steps(1));
    loop->index = i;
    NestedScope scope(*this);
    NMC_TRY(assign(s.target, items->items[i]));
    scope_->set("loop", Value(loop));
    NMC_ASSIGN(Flow flow, execute(s.body));
    if (flow == Flow::kBreak) break;
  }
  return {};
}

}  // namespace nmc::jinja
