#include <algorithm>
#include <optional>
#include <unordered_map>

#include "runtime/text/grammar/determinize.h"
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
  int32_t run = -1;             // one more character of this run may begin here, ...
  uint16_t run_left = 0;        // ... and so many in all
};

class RunClasses;

class RuleCompiler {
 public:
  // Without `runs`, none are looked for.
  RuleCompiler(const GrammarBuilder& grammar, size_t max_nodes, RunClasses* runs)
      : grammar_(grammar), max_nodes_(max_nodes), runs_(runs) {}

  // False when the rule grew beyond the limit.
  bool build(ExprId body) {
    start_ = node();
    end_ = connect(body, start_);
    return nodes_.size() <= max_nodes_;
  }

  // The rule's states, without free moves; it begins at the first, and their places count from it.
  std::vector<MachineState> states() {
    std::vector<MachineState> made = states_with_choices();
    if (auto plain = without_choices(made)) return merge_equal(std::move(*plain));
    for (MachineState& s : made) s.run = -1;  // which nobody follows where bytes lead apart
    return made;
  }
  // The same without choices, unless that takes many more.
  std::optional<std::vector<MachineState>> states_without_choices() {
    return without_choices(states_with_choices());
  }

 private:
  static std::optional<std::vector<MachineState>> without_choices(
      const std::vector<MachineState>& states) {
    constexpr size_t kMore = 1000;  // may come of choices between short texts
    return determinize(states, 2 * states.size() + kMore);
  }

  std::vector<MachineState> states_with_choices() {
    std::vector<uint32_t> state_of(nodes_.size(), kNone);
    std::vector<uint32_t> order;
    auto want = [&](uint32_t n) {
      n = skip(n);
      if (state_of[n] == kNone) {
        state_of[n] = static_cast<uint32_t>(order.size());
        order.push_back(n);
      }
      return state_of[n];
    };
    want(start_);
    std::vector<MachineState> made;
    for (size_t i = 0; i < order.size(); ++i) {
      MachineState s;
      const std::vector<uint32_t> nodes = closure(order[i]);
      for (uint32_t n : nodes) {
        const Node& from = nodes_[n];
        if (n == end_) s.accepts = true;
        if (from.byte_target != kNone) {
          for (auto [low, high] : from.bytes.ranges())
            s.edges.push_back({low, high, want(from.byte_target)});
        }
        if (from.call_return != kNone) s.calls.push_back({from.rule, want(from.call_return)});
      }
      find_run(nodes, &s);
      made.push_back(std::move(s));
    }
    for (size_t i = 0; i < order.size(); ++i) {
      uint32_t other = nodes_[order[i]].mask_class;
      // The class's first copy is always reached before its later ones.
      made[i].mask_class =
          other == kNone || state_of[other] == kNone ? state_of[order[i]] : state_of[other];
    }
    return made;
  }

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

  // A node where `left` more characters of a run may begin.
  uint32_t run_move(uint32_t from, int32_t run, int64_t left) {
    uint32_t to = free_move(from);
    nodes_[to].run = run;
    nodes_[to].run_left = static_cast<uint16_t>(std::min(left, kMaxTokenBytes + 1));
    return to;
  }

  uint32_t connect_repeat(const Expr& e, uint32_t from) {
    ExprId what = e.children[0];
    const int32_t run = run_of(e);
    if (e.max == kNoLimit) {
      for (int64_t i = 0; i < e.min; ++i) from = connect(what, run_move(from, run, INT64_MAX));
      uint32_t loop = free_move(from);
      uint32_t end = connect(what, run_move(loop, run, INT64_MAX));
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
      from = connect(what, run_move(from, run, e.max - i));
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

  // The first node on the way from `n` where something happens: the ends of a choice's branches
  // are one state.
  uint32_t skip(uint32_t n) const {
    auto passes = [&](const Node& node) {
      return node.free.size() == 1 && node.byte_target == kNone && node.call_return == kNone &&
             node.run == -1;
    };
    while (n != end_ && passes(nodes_[n])) n = nodes_[n].free[0];
    return n;
  }

  // The run of a state of these nodes, if nothing else there reads a byte that begins its
  // characters.
  void find_run(const std::vector<uint32_t>& nodes, MachineState* state);

  std::vector<uint32_t> closure(uint32_t start) {
    seen_.resize(nodes_.size(), 0);
    std::vector<uint32_t> found{start};
    seen_[start] = ++closures_;
    for (size_t i = 0; i < found.size(); ++i) {
      for (uint32_t to : nodes_[found[i]].free) {
        if (seen_[to] == closures_) continue;
        seen_[to] = closures_;
        found.push_back(to);
      }
    }
    return found;
  }

  int32_t run_of(const Expr& repeat);

  const GrammarBuilder& grammar_;
  const size_t max_nodes_;
  RunClasses* const runs_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> seen_;  // by node: the last closure that reached it
  uint32_t closures_ = 0;       // computed so far
  uint32_t start_ = 0, end_ = 0;
};

// The runs of a machine by what they repeat.
class RunClasses {
 public:
  RunClasses(const GrammarBuilder& grammar, std::vector<RunClass>* classes)
      : grammar_(grammar), classes_(classes) {}

  // -1 when repetitions of `what` are no run.
  int32_t find(ExprId what) {
    auto [known, added] = by_expression_.try_emplace(what, -1);
    if (!added) return known->second;
    constexpr size_t kMaxNodes = 1000;  // of one character; that of JSON's strings has 100
    RuleCompiler compiler(grammar_, kMaxNodes, nullptr);
    if (!compiler.build(what)) return -1;
    const auto states = compiler.states_without_choices();
    auto made = states ? make_run_class(*states) : std::nullopt;
    if (!made) return -1;
    constexpr size_t kMaxClasses = 6;  // each takes 3 MB when it is used
    auto same = std::find_if(classes_->begin(), classes_->end(),
                             [&](const RunClass& c) { return c.moves == made->moves; });
    if (same == classes_->end()) {
      if (classes_->size() == kMaxClasses) return -1;
      same = classes_->insert(same, std::move(*made));
    }
    return known->second = static_cast<int32_t>(same - classes_->begin());
  }

  bool begins(int32_t run, const ByteSet& bytes) const {
    const auto ranges = bytes.ranges();
    return std::any_of(ranges.begin(), ranges.end(), [&](auto range) {
      bool any = false;
      for (int b = range.first; b <= range.second; ++b)
        any |= (*classes_)[static_cast<size_t>(run)].begins(static_cast<uint8_t>(b));
      return any;
    });
  }

 private:
  const GrammarBuilder& grammar_;
  std::vector<RunClass>* classes_;
  std::unordered_map<ExprId, int32_t> by_expression_;
};

int32_t RuleCompiler::run_of(const Expr& repeat) {
  constexpr int64_t kShort = 8;  // walked about as fast
  bool is_long = repeat.max == kNoLimit || repeat.max > kShort;
  return runs_ && is_long ? runs_->find(repeat.children[0]) : -1;
}

void RuleCompiler::find_run(const std::vector<uint32_t>& nodes, MachineState* state) {
  uint32_t begin = kNone;
  for (uint32_t n : nodes) {
    if (nodes_[n].run < 0) continue;
    if (begin != kNone) return;
    begin = n;
  }
  if (begin == kNone) return;
  std::vector<uint32_t> own = closure(begin);
  std::sort(own.begin(), own.end());
  for (uint32_t n : nodes) {
    const bool others =
        nodes_[n].byte_target != kNone && runs_->begins(nodes_[begin].run, nodes_[n].bytes);
    if (others && !std::binary_search(own.begin(), own.end(), n)) return;
  }
  state->run = nodes_[begin].run;
  state->run_left = nodes_[begin].run_left;
}

// Fewer classes than bytes make the tables of a running grammar small and quickly filled.
void classify_bytes(Machine* machine) {
  std::array<bool, 257> begins{true};
  auto tell_apart = [&](const RunClass& run) {
    for (const auto& row : run.moves) {
      for (size_t b = 1; b < row.size(); ++b) begins[b] |= row[b] != row[b - 1];
    }
  };
  tell_apart(plain_run_class());
  std::for_each(machine->runs.begin(), machine->runs.end(), tell_apart);
  for (const MachineState& state : machine->states) {
    for (const auto& edge : state.edges) begins[edge.low] = begins[edge.high + 1] = true;
  }
  for (int b = 0; b < 256; ++b) {
    if (begins[static_cast<size_t>(b)]) machine->class_bytes.push_back(static_cast<uint8_t>(b));
    machine->byte_class[static_cast<size_t>(b)] =
        static_cast<uint8_t>(machine->class_bytes.size() - 1);
  }
}

// A state of a rule that begins at the machine's state `first`.
MachineState moved(MachineState s, StateId first) {
  for (auto& e : s.edges) e.target += first;
  for (auto& c : s.calls) c.return_to += first;
  s.mask_class += first;
  return s;
}

}  // namespace

Result<Machine> compile_machine(const GrammarBuilder& grammar, RuleId root, size_t max_states) {
  Machine machine;
  machine.root = root;
  size_t budget = 4 * max_states;  // nodes before free moves are gone
  RunClasses runs(grammar, &machine.runs);
  for (RuleId r = 0; r < grammar.rule_count(); ++r) {
    RuleCompiler compiler(grammar, budget, &runs);
    const auto first = static_cast<StateId>(machine.states.size());
    bool fits = compiler.build(grammar.body(r));
    std::vector<MachineState> states = fits ? compiler.states() : std::vector<MachineState>();
    if (!fits || first + states.size() > max_states) {
      return unsupported("the grammar is too large (rule \"" + grammar.rule_name(r) +
                         "\"): more than " + std::to_string(max_states) +
                         " states; send fewer tools or members, or lower the bounds of counts");
    }
    for (MachineState& s : states) machine.states.push_back(moved(std::move(s), first));
    machine.rule_start.push_back(first);
    machine.rule_names.push_back(grammar.rule_name(r));
  }
  NMC_TRY(remove_dead_ends(&machine));
  classify_bytes(&machine);
  NMC_TRY(check_left_recursion(machine));
  return machine;
}

}  // namespace nmc
