#include "runtime/text/grammar/run.h"

#include <algorithm>
#include <map>

#include "runtime/text/grammar/machine.h"
#include "runtime/text/grammar/plain_text.h"

namespace nmc {
namespace {

constexpr int kFewBytes = 24;      // less than the small letters
constexpr size_t kMaxStates = 64;  // of a class; that of JSON's strings has 20

}  // namespace

std::string RunClass::key() const {
  return {reinterpret_cast<const char*>(moves.data()), moves.size() * sizeof moves[0]};
}

const RunClass& plain_run_class() {
  static const RunClass made = [] {
    RunClass plain;
    for (int s = 0; s < kPlainStates; ++s) {
      auto& row = plain.moves.emplace_back();
      for (size_t byte = 0; byte < row.size(); ++byte) {
        const PlainState next = next_plain(static_cast<PlainState>(s), static_cast<uint8_t>(byte));
        row[byte] = next == PlainState::kInvalid ? RunClass::kDead : static_cast<uint8_t>(next);
      }
    }
    return plain;
  }();
  return made;
}

std::optional<RunClass> make_run_class(const Machine& machine) {
  RunClass made;
  std::map<std::vector<StateId>, uint8_t> numbers;
  std::vector<std::vector<StateId>> sets{{machine.rule_start[machine.root]}};
  numbers[sets[0]] = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (i == kMaxStates) return std::nullopt;
    auto& row = made.moves.emplace_back();
    for (size_t byte = 0; byte < row.size(); ++byte) {
      std::vector<StateId> next;
      bool ends = false, goes_on = false;
      for (StateId state : sets[i]) {
        const MachineState& s = machine.states[state];
        if (!s.calls.empty()) return std::nullopt;
        for (const auto& edge : s.edges) {
          if (byte < edge.low || byte > edge.high) continue;
          const MachineState& target = machine.states[edge.target];
          ends |= target.accepts;
          goes_on |= !target.only_accepts();
          next.push_back(edge.target);
        }
      }
      if (ends && goes_on) return std::nullopt;
      row[byte] = next.empty() ? RunClass::kDead : 0;
      if (next.empty() || ends) continue;
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      auto [it, added] = numbers.try_emplace(next, static_cast<uint8_t>(sets.size()));
      row[byte] = it->second;
      if (added) sets.push_back(std::move(next));
    }
  }
  const auto dead = std::count(made.moves[0].begin(), made.moves[0].end(), RunClass::kDead);
  if (machine.states[sets[0][0]].accepts || 256 - dead < kFewBytes) return std::nullopt;
  return made;
}

}  // namespace nmc
