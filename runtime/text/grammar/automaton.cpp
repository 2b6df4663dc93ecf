#include "runtime/text/grammar/automaton.h"

#include <algorithm>
#include <utility>

#include "runtime/base/hash.h"
#include "runtime/text/grammar/plain_text.h"

namespace nmc {

Automaton::Automaton(std::shared_ptr<const Machine> machine) : machine_(std::move(machine)) {
  frames_.push_back({0, kBottom});
}

SetId Automaton::start(StateId state) {
  visit(state, kBottom);
  return finish_visit();
}

SetId Automaton::resume(FrameId frame) {
  if (frame == kBottom)
    building_ended_ = true;
  else
    visit(frames_[frame].return_to, frames_[frame].parent);
  return finish_visit();
}

SetId Automaton::step(SetId set, uint8_t byte) {
  auto& moves = sets_[at(set)].moves;
  if (moves.empty()) moves.resize(machine_->class_bytes.size(), kUnknown);
  const uint8_t byte_class = machine_->byte_class[byte];
  SetId known = moves[byte_class];
  if (known != kUnknown) return known;
  for (size_t i = 0; i < sets_[at(set)].places.size(); ++i) {
    Configuration c = sets_[at(set)].places[i];
    for (const auto& edge : machine_->states[c.state].edges) {
      if (byte >= edge.low && byte <= edge.high) visit(edge.target, c.frame);
    }
  }
  SetId next = finish_visit();
  sets_[at(set)].moves[byte_class] = next;
  return next;
}

bool Automaton::takes_plain_text(SetId set, PlainState open) {
  const bool boundary = open == PlainState::kBoundary;
  if (boundary && sets_[at(set)].takes_plain_text) return *sets_[at(set)].takes_plain_text;
  // All that plain text leads to, each with the state of the character that is open there.
  constexpr size_t kMaxSeen = 64;  // a counted string among the places leads to ever new sets
  std::vector<std::pair<SetId, PlainState>> seen{{set, open}};
  bool takes = true;
  for (size_t i = 0; i < seen.size() && takes; ++i) {
    auto [from, state] = seen[i];
    takes = !ended(from) && seen.size() <= kMaxSeen;
    for (uint8_t byte : machine_->class_bytes) {
      PlainState next = next_plain(state, byte);
      if (next == PlainState::kInvalid) continue;
      std::pair to{step(from, byte), next};
      takes = takes && to.first != kDeadSet;
      if (std::find(seen.begin(), seen.end(), to) == seen.end()) seen.push_back(to);
    }
  }
  if (boundary) sets_[at(set)].takes_plain_text = takes;
  return takes;
}

FrameId Automaton::push(StateId return_to, FrameId parent) {
  uint64_t key = uint64_t{return_to} << 32 | parent;
  auto [it, added] = frame_ids_.try_emplace(key, static_cast<FrameId>(frames_.size()));
  if (added) frames_.push_back({return_to, parent});
  return it->second;
}

FrameId Automaton::copy_frame(const std::vector<Frame>& old, FrameId frame) {
  std::vector<FrameId> path;  // from the top of the stack down
  for (; frame != kBottom; frame = old[frame].parent) path.push_back(frame);
  FrameId copy = kBottom;
  for (size_t i = path.size(); i-- > 0;) copy = push(old[path[i]].return_to, copy);
  return copy;
}

SetId Automaton::keep_only(SetId set) {
  std::vector<Frame> old{{0, kBottom}};
  std::swap(old, frames_);
  Set kept = std::move(sets_[at(set)]);
  sets_.clear();
  frame_ids_.clear();
  set_ids_.clear();
  for (Configuration c : kept.places) building_.push_back({c.state, copy_frame(old, c.frame)});
  building_ended_ = kept.ended;
  return finish_visit();
}

// Adds a place and everything that can be reached from it without reading a byte.
void Automaton::visit(StateId state, FrameId frame) {
  std::vector<Configuration> open{{state, frame}};
  while (!open.empty()) {
    Configuration c = open.back();
    open.pop_back();
    if (std::find(seen_.begin(), seen_.end(), c) != seen_.end()) continue;
    seen_.push_back(c);
    const MachineState& s = machine_->states[c.state];
    if (!s.edges.empty()) building_.push_back(c);
    for (const auto& call : s.calls) {
      // A call at the end of a rule needs no frame of its own: repetition by recursion stays flat.
      bool last = machine_->states[call.return_to].only_accepts();
      open.push_back(
          {machine_->rule_start[call.rule], last ? c.frame : push(call.return_to, c.frame)});
    }
    if (!s.accepts) continue;
    if (c.frame == kBottom)
      building_ended_ = true;
    else
      open.push_back({frames_[c.frame].return_to, frames_[c.frame].parent});
  }
}

SetId Automaton::finish_visit() {
  Set set{std::move(building_), std::exchange(building_ended_, false), {}, {}};
  building_.clear();
  seen_.clear();
  if (set.places.empty() && !set.ended) return kDeadSet;
  std::sort(set.places.begin(), set.places.end());
  uint64_t hash = xxh3_64(set.places.data(), set.places.size() * sizeof(Configuration)) + set.ended;
  auto [first, last] = set_ids_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Set& other = sets_[at(it->second)];
    if (other.places == set.places && other.ended == set.ended) return it->second;
  }
  auto id = static_cast<SetId>(sets_.size());
  set_ids_.emplace(hash, id);
  sets_.push_back(std::move(set));
  return id;
}

}  // namespace nmc
