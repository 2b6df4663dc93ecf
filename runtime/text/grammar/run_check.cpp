#include "runtime/text/grammar/run_check.h"

#include <algorithm>

namespace nmc {
namespace {

auto reads(uint8_t byte) {
  return [byte](const MachineState::Edge& e) { return byte >= e.low && byte <= e.high; };
}

}  // namespace

// Every character leads there: it is where the repetition goes on.
StateId RunChecks::after_character(const MachineState& state) const {
  const RunClass& run = machine_.runs[static_cast<size_t>(state.run)];
  const MachineState* at = &state;
  for (uint8_t inside = 0;;) {
    auto byte = std::find_if(machine_.class_bytes.begin(), machine_.class_bytes.end(),
                             [&](uint8_t b) { return run.moves[inside][b] != RunClass::kDead; });
    auto edge = std::find_if(at->edges.begin(), at->edges.end(), reads(*byte));
    inside = run.moves[inside][*byte];
    if (inside == 0) return edge->target;
    at = &machine_.states[edge->target];
  }
}

bool RunChecks::decides(StateId state) {
  std::vector<StateId> path;  // one state per character
  Known found = Known::kUnknown;
  for (StateId at = machine_.states[state].mask_class; found == Known::kUnknown;) {
    const MachineState& s = machine_.states[at];
    if (known_[at] != Known::kUnknown) {
      found = known_[at];
      break;
    }
    path.push_back(at);
    if (s.run < 0 || !s.calls.empty()) {
      found = Known::kNo;
      break;
    }
    if (path.size() > kMaxTokenBytes) {  // farther than any token reaches
      path.resize(1);
      found = Known::kYes;
      break;
    }
    const StateId next = machine_.states[after_character(s)].mask_class;
    const MachineState& after = machine_.states[next];
    if (after.accepts || !after.calls.empty()) {
      found = Known::kNo;
    } else if (next == at) {
      found = Known::kYes;
    } else if (after.run != s.run) {
      const RunClass& run = machine_.runs[static_cast<size_t>(s.run)];
      bool clear =
          std::none_of(machine_.class_bytes.begin(), machine_.class_bytes.end(), [&](uint8_t byte) {
            return run.begins(byte) &&
                   std::any_of(after.edges.begin(), after.edges.end(), reads(byte));
          });
      found = clear ? Known::kYes : Known::kNo;
    }
    at = next;
  }
  for (StateId at : path) known_[at] = found;
  return found == Known::kYes;
}

}  // namespace nmc
