#include <algorithm>
#include <optional>

#include "runtime/text/grammar/machine.h"
#include "runtime/text/grammar/machine_checks.h"

namespace nmc {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A Thompson automaton of one rule: nodes with at most one byte edge or call, and free moves.
struct Node {
  std::vector<uint32_t> free;
  ByteSet bytes;
  uint32_t byte_target = kNone;
  RuleId rule = 0;
  uint32_t call_return = kNone;
  uint32_t mask_class = kNone;  // node with the same future; kNone: itself
};

class RuleCompiler {
 public:
  RuleCompiler(const GrammarBuilder& grammar, size_t max_nodes)
      : grammar_(grammar), max_nodes_(max_nodes) {}

  // False when the rule grew beyond the limit.
  bool build(ExprId body) {
    start_ = node();
    end_ = connect(body, start_);
    return nodes_.size() <= max_nodes_;
  }

  // Adds the rule's states, without free moves, to the machine; returns its start.
  StateId emit(Machine* machine) {
    std::vector<uint32_t> state_of(nodes_.size(), kNone);
    std::vector<uint32_t> order;
    auto want = [&](uint32_t n) {
      if (state_of[n] == kNone) {
        state_of[n] = static_cast<uint32_t>(machine->states.size() + order.size());
        order.push_back(n);
      }
      return state_of[n];
    };
    want(start_);
    std::vector<MachineState> states;
    for (size_t i = 0; i < order.size(); ++i) {
      MachineState s;
      for (uint32_t n : closure(order[i])) {
        const Node& from = nodes_[n];
        if (n == end_) s.accepts = true;
        if (from.byte_target != kNone) {
          for (auto [low, high] : from.bytes.ranges())
            s.edges.push_back({low, high, want(from.byte_target)});
        }
        if (from.call_return != kNone) s.calls.push_back({from.rule, want(from.call_return)});
      }
      states.push_back(std::move(s));
    }
    for (size_t i = 0; i < order.size(); ++i) {
      uint32_t other = nodes_[order[i]].mask_class;
      // The class's first copy is always reached before its later ones.
      states[i].mask_class =
          other == kNone || state_of[other] == kNone ? state_of[order[i]] : state_of[other];
      machine->states.push_back(std::move(states[i]));
    }
    return state_of[start_];
  }

 private:
  uint32_t node() {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  // Builds `id` so that it starts at `from`; returns the node where it ends.
  uint32_t connect(ExprId id, uint32_t from) {
    if (nodes_.size() > max_nodes_) return from;
    const Expr& e = grammar_.expr(id);
    switch (e.kind) {
      case Expr::Kind::kEmpty:
        return from;
      case Expr::Kind::kNever:
        return node();  // no way leads there
      case Expr::Kind::kBytes: {
        uint32_t at = free_move(from), to = node();
        nodes_[at].bytes = e.bytes;
        nodes_[at].byte_target = to;
        return to;
      }
      case Expr::Kind::kCall: {
        uint32_t at = free_move(from), to = node();
        nodes_[at].rule = e.rule;
        nodes_[at].call_return = to;
        return to;
      }
      case Expr::Kind::kSequence: {
        for (ExprId child : e.children) from = connect(child, from);
        return from;
      }
      case Expr::Kind::kChoice: {
        uint32_t to = node();
        for (ExprId child : e.children) {
          uint32_t end = connect(child, free_move(from));
          nodes_[end].free.push_back(to);
        }
        return to;
      }
      case Expr::Kind::kRepeat:
        return connect_repeat(e, from);
    }
    return from;
  }

  uint32_t free_move(uint32_t from) {
    uint32_t to = node();
    nodes_[from].free.push_back(to);
    return to;
  }

  uint32_t connect_repeat(const Expr& e, uint32_t from) {
    ExprId what = e.children[0];
    if (e.max == kNoLimit) {
      for (int64_t i = 0; i < e.min; ++i) from = connect(what, from);
      uint32_t loop = free_move(from);
      uint32_t end = connect(what, loop);
      nodes_[end].free.push_back(loop);
      return free_move(loop);
    }
    uint32_t to = node();
    // Copies far from both bounds look alike to any token: the first of each phase stands for all.
    std::optional<uint32_t> reference[2];
    for (int64_t i = 0; i < e.max && nodes_.size() <= max_nodes_; ++i) {
      bool optional = i >= e.min;
      if (optional) nodes_[from].free.push_back(to);
      auto first = static_cast<uint32_t>(nodes_.size());
      from = connect(what, free_move(from));
      bool far = e.max - i > kMaxTokenBytes + 1 && (optional || e.min - i > kMaxTokenBytes + 1);
      if (!far) continue;
      std::optional<uint32_t>& known = reference[optional];
      if (!known) {
        known = first;
        continue;
      }
      for (uint32_t n = first; n < nodes_.size(); ++n) nodes_[n].mask_class = *known + (n - first);
    }
    nodes_[from].free.push_back(to);
    return to;
  }

  std::vector<uint32_t> closure(uint32_t start) {
    seen_.resize(nodes_.size(), kNone);
    std::vector<uint32_t> found{start};
    seen_[start] = start;
    for (size_t i = 0; i < found.size(); ++i) {
      for (uint32_t to : nodes_[found[i]].free) {
        if (seen_[to] == start) continue;
        seen_[to] = start;
        found.push_back(to);
      }
    }
    return found;
  }

  const GrammarBuilder& grammar_;
  const size_t max_nodes_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> seen_;  // by node: the start of the last closure that reached it
  uint32_t start_ = 0, end_ = 0;
};

}  // namespace

Result<Machine> compile_machine(const GrammarBuilder& grammar, RuleId root, size_t max_states) {
  Machine machine;
  machine.root = root;
  size_t budget = 4 * max_states;  // nodes before free moves are gone
  for (RuleId r = 0; r < grammar.rule_count(); ++r) {
    RuleCompiler compiler(grammar, budget);
    if (!compiler.build(grammar.body(r)) || machine.states.size() > max_states) {
      return unsupported("the grammar is too large (rule \"" + grammar.rule_name(r) +
                         "\"): more than " + std::to_string(max_states) +
                         " states; lower its repetition bounds");
    }
    machine.rule_start.push_back(compiler.emit(&machine));
    machine.rule_names.push_back(grammar.rule_name(r));
  }
  NMC_TRY(remove_dead_ends(&machine));
  NMC_TRY(check_left_recursion(machine));
  return machine;
}

}  // namespace nmc
