#include "runtime/text/grammar/automaton.h"

#include <algorithm>
#include <utility>

#include "runtime/base/hash.h"

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

std::optional<std::vector<SetId>> Automaton::after_character(SetId set, const RunClass& text,
                                                             uint8_t open) {
  std::vector<SetId> after;
  std::vector<std::pair<SetId, uint8_t>> places{{set, open}};  // with the state of the character
  for (size_t i = 0; i < places.size(); ++i) {
    auto [from, state] = places[i];
    if (ended(from)) return std::nullopt;
    for (uint8_t byte : machine_->class_bytes) {
      const uint8_t next = text.moves[state][byte];
      if (next == RunClass::kDead) continue;
      const std::pair to{step(from, byte), next};
      if (to.first == kDeadSet) return std::nullopt;
      if (next == 0) {
        if (std::find(after.begin(), after.end(), to.first) == after.end())
          after.push_back(to.first);
      } else if (std::find(places.begin(), places.end(), to) == places.end()) {
        places.push_back(to);
      }
    }
  }
  return after;
}

int64_t Automaton::text_depth(SetId set, const RunClass& text, int64_t most) {
  constexpr size_t kMaxSets = 8;  // after one character: texts that are told apart much
  std::vector<SetId> seen{set}, last{set};
  for (int64_t depth = 0; depth < most; ++depth) {
    std::vector<SetId> next;
    for (SetId from : last) {
      const auto after = after_character(from, text, 0);
      if (!after) return depth;
      for (SetId to : *after) {
        if (std::find(seen.begin(), seen.end(), to) != seen.end()) continue;
        seen.push_back(to);
        next.push_back(to);
      }
    }
    if (next.empty()) return kNoLimit;
    if (next.size() > kMaxSets) return depth;
    last = std::move(next);
  }
  return most;
}

bool Automaton::takes_plain_text(SetId set) {
  if (!sets_[at(set)].takes_plain_text) {
    constexpr int64_t kFar = 16;  // a text without limit has met its like by then
    const bool takes = text_depth(set, plain_run_class(), kFar) == kNoLimit;
    sets_[at(set)].takes_plain_text = takes;
  }
  return *sets_[at(set)].takes_plain_text;
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
