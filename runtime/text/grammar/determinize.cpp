#include "runtime/text/grammar/determinize.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "runtime/base/hash.h"

namespace nmc {
namespace {

constexpr StateId kNoNumber = UINT32_MAX;

using States = std::vector<StateId>;  // sorted, without repeats

void normalize(States* states) {
  std::sort(states->begin(), states->end());
  states->erase(std::unique(states->begin(), states->end()), states->end());
}

struct HashStates {
  size_t operator()(const States& s) const { return xxh3_64(s.data(), s.size() * sizeof s[0]); }
};

// The subset construction.
class Subsets {
 public:
  explicit Subsets(const std::vector<MachineState>& states)
      : states_(states), alone_(states.size(), kNoNumber) {}

  std::optional<std::vector<MachineState>> construct(size_t max_states) {
    number(0);
    std::vector<MachineState> made;
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (sets_.size() > max_states) return std::nullopt;
      made.push_back(merged(States(sets_[i])));  // a copy: sets are added meanwhile
      made.back().mask_class = mask_class(static_cast<StateId>(i));
    }
    return made;
  }

 private:
  // Most sets are of one state.
  StateId number(StateId alone) {
    if (alone_[alone] == kNoNumber) {
      alone_[alone] = static_cast<StateId>(sets_.size());
      sets_.push_back({alone});
    }
    return alone_[alone];
  }
  StateId number(States set) {
    if (set.size() == 1) return number(set[0]);
    auto [it, added] = numbers_.try_emplace(std::move(set), static_cast<StateId>(sets_.size()));
    if (added) sets_.push_back(it->first);
    return it->second;
  }

  MachineState merged(const States& set) {
    MachineState made;
    for (StateId s : set) made.accepts |= states_[s].accepts;
    if (set.size() == 1) {  // a run among other texts decides nothing
      made.run = states_[set[0]].run;
      made.run_left = states_[set[0]].run_left;
    }
    if (set.size() > 1 || has_choices(states_[set[0]])) {
      add_edges(set, &made);
      add_calls(set, &made);
      return made;
    }
    made.edges = states_[set[0]].edges;
    made.calls = states_[set[0]].calls;
    for (auto& e : made.edges) e.target = number(e.target);
    for (auto& c : made.calls) c.return_to = number(c.return_to);
    return made;
  }

  static bool has_choices(const MachineState& s) {
    for (size_t i = 1; i < s.edges.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (s.edges[i].low <= s.edges[k].high && s.edges[k].low <= s.edges[i].high) return true;
      }
    }
    for (size_t i = 1; i < s.calls.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (s.calls[i].rule == s.calls[k].rule) return true;
      }
    }
    return false;
  }

  void add_edges(const States& set, MachineState* made) {
    std::vector<MachineState::Edge> edges;
    for (StateId s : set) {
      edges.insert(edges.end(), states_[s].edges.begin(), states_[s].edges.end());
    }
    std::vector<int> bounds;  // where a range may begin
    for (const auto& e : edges) bounds.insert(bounds.end(), {e.low, e.high + 1});
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    std::sort(edges.begin(), edges.end(), [](auto& a, auto& b) { return a.low < b.low; });
    std::vector<MachineState::Edge> open;  // those that hold the range at work
    size_t next = 0;
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      std::erase_if(open, [&](const auto& e) { return e.high < bounds[i]; });
      for (; next < edges.size() && edges[next].low == bounds[i]; ++next)
        open.push_back(edges[next]);
      if (open.empty()) continue;
      States targets;
      for (const auto& e : open) targets.push_back(e.target);
      normalize(&targets);
      const auto low = static_cast<uint8_t>(bounds[i]),
                 high = static_cast<uint8_t>(bounds[i + 1] - 1);
      const StateId target = number(std::move(targets));
      auto& list = made->edges;
      if (!list.empty() && list.back().target == target && list.back().high + 1 == low) {
        list.back().high = high;
      } else {
        list.push_back({low, high, target});
      }
    }
  }

  void add_calls(const States& set, MachineState* made) {
    std::map<RuleId, States> by_rule;
    for (StateId s : set) {
      for (const auto& c : states_[s].calls) by_rule[c.rule].push_back(c.return_to);
    }
    for (auto& [rule, returns] : by_rule) {
      normalize(&returns);
      made->calls.push_back({rule, number(std::move(returns))});
    }
  }

  // The set of the classes of its states, if there is one: it allows the same next bytes.
  StateId mask_class(StateId id) {
    States classes;
    for (StateId s : sets_[id]) classes.push_back(states_[s].mask_class);
    if (classes == sets_[id]) return id;
    normalize(&classes);
    if (classes.size() == 1) return std::min(id, alone_[classes[0]]);
    auto it = numbers_.find(classes);
    return it == numbers_.end() || it->second > id ? id : it->second;
  }

  const std::vector<MachineState>& states_;
  std::vector<States> sets_;
  std::vector<StateId> alone_;  // by state: the number of the set of it alone
  std::unordered_map<States, StateId, HashStates> numbers_;  // of the others
};

}  // namespace

namespace {

// All that decides what follows a state.
struct Content {
  const MachineState* state;
  bool own_class;

  bool operator==(const Content& other) const {
    const MachineState &a = *state, &b = *other.state;
    auto class_of = [](const Content& c) { return c.own_class ? kNoNumber : c.state->mask_class; };
    return a.accepts == b.accepts && a.run == b.run && a.run_left == b.run_left &&
           class_of(*this) == class_of(other) &&
           std::ranges::equal(a.edges, b.edges,
                              [](auto& x, auto& y) {
                                return x.low == y.low && x.high == y.high && x.target == y.target;
                              }) &&
           std::ranges::equal(a.calls, b.calls, [](auto& x, auto& y) {
             return x.rule == y.rule && x.return_to == y.return_to;
           });
  }
};

struct HashContent {
  size_t operator()(const Content& c) const {
    uint64_t hash = c.state->accepts;
    auto mix = [&](uint64_t v) { hash = (hash ^ v) * 0x9e3779b97f4a7c15 + (hash >> 29); };
    for (const auto& e : c.state->edges) mix(uint64_t{e.target} << 16 | e.low << 8 | e.high);
    for (const auto& call : c.state->calls) mix(uint64_t{call.rule} << 32 | call.return_to);
    return hash;
  }
};

}  // namespace

std::vector<MachineState> merge_equal(std::vector<MachineState> states) {
  std::vector<StateId> kept(states.size());  // by state: the one that stands for it
  std::unordered_map<Content, StateId, HashContent> by_content;
  // Backwards, because most edges lead to later states: those are merged by then.
  for (size_t i = states.size(); i-- > 0;) {
    const auto id = static_cast<StateId>(i);
    MachineState& s = states[i];
    for (auto& e : s.edges) e.target = e.target > id ? kept[e.target] : e.target;
    for (auto& c : s.calls) c.return_to = c.return_to > id ? kept[c.return_to] : c.return_to;
    // The rule begins at the first, whatever else is like it.
    kept[i] = i == 0 ? 0 : by_content.try_emplace({&s, s.mask_class == id}, id).first->second;
  }
  std::vector<StateId> number(states.size());
  std::vector<MachineState> made;
  for (size_t i = 0; i < states.size(); ++i) {
    if (kept[i] != i) continue;
    number[i] = static_cast<StateId>(made.size());
    made.push_back(std::move(states[i]));
  }
  for (MachineState& s : made) {
    for (auto& e : s.edges) e.target = number[kept[e.target]];
    for (auto& c : s.calls) c.return_to = number[kept[c.return_to]];
    s.mask_class = number[kept[s.mask_class]];
  }
  return made;
}

std::optional<std::vector<MachineState>> determinize(const std::vector<MachineState>& states,
                                                     size_t max_states) {
  return Subsets(states).construct(max_states);
}

}  // namespace nmc
