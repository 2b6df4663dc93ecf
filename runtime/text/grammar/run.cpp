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

std::optional<RunClass> make_run_class(const std::vector<MachineState>& states) {
  if (states[0].accepts) return std::nullopt;
  RunClass made;
  std::map<StateId, uint8_t> numbers{{0, 0}};
  std::vector<StateId> order{0};
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == kMaxStates) return std::nullopt;
    auto& row = made.moves.emplace_back();
    row.fill(RunClass::kDead);
    const MachineState& from = states[order[i]];
    if (!from.calls.empty()) return std::nullopt;
    for (const auto& edge : from.edges) {
      const MachineState& target = states[edge.target];
      if (target.accepts && !target.only_accepts()) return std::nullopt;
      uint8_t number = 0;
      if (!target.accepts) {
        auto [it, added] = numbers.try_emplace(edge.target, static_cast<uint8_t>(order.size()));
        if (added) order.push_back(edge.target);
        number = it->second;
      }
      std::fill(row.begin() + edge.low, row.begin() + edge.high + 1, number);
    }
  }
  const auto dead = std::count(made.moves[0].begin(), made.moves[0].end(), RunClass::kDead);
  return 256 - dead < kFewBytes ? std::nullopt : std::optional(std::move(made));
}

}  // namespace nmc
