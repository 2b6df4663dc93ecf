// A running grammar: which places the text read so far can have led to, byte by byte.
//
// A configuration is a state of some rule plus a stack of places to return to. Stacks are shared
// (one frame per distinct stack), sets of configurations are numbered, and moves between sets are
// remembered, so that a byte usually costs one table look-up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/text/grammar/machine.h"
#include "runtime/text/grammar/run.h"

namespace nmc {

using FrameId = uint32_t;
using SetId = int32_t;

inline constexpr SetId kDeadSet = -1;
inline constexpr FrameId kBottom = 0;  // the empty stack

struct Configuration {
  StateId state;
  FrameId frame;

  auto operator<=>(const Configuration&) const = default;
};

inline constexpr size_t kMaxAutomatonSets = 20'000;  // who uses a larger one starts over

// Not thread-safe. Memory grows with the places visited; `size` says how far.
class Automaton {
 public:
  explicit Automaton(std::shared_ptr<const Machine> machine);

  // The set of places right after `state` was reached with nothing to return to.
  SetId start(StateId state);
  // The set after one more byte; kDeadSet when the byte cannot follow.
  SetId step(SetId set, uint8_t byte);
  // The set that `frame` continues with once the rule above it has ended.
  SetId resume(FrameId frame);

  // The sets after one character of this class, which is open as the class's state `open` says;
  // nothing when some character cannot follow, or when the text may end before one.
  std::optional<std::vector<SetId>> after_character(SetId set, const RunClass& text, uint8_t open);
  // Any text of so many characters of this class can follow `set`, and nowhere in it may the text
  // end. At most `most`; kNoLimit: however many.
  int64_t text_depth(SetId set, const RunClass& text, int64_t most);
  // Plain text (plain_text.h) without limit; remembers its answers.
  bool takes_plain_text(SetId set);

  // Forgets everything but `set` and the stacks it needs; returns its new number. Bounds the memory
  // of a long text: all other numbers are void afterwards.
  SetId keep_only(SetId set);

  // The places that can read a byte.
  const std::vector<Configuration>& places(SetId set) const { return sets_[at(set)].places; }
  // The text may end here: the stack ran empty.
  bool ended(SetId set) const { return sets_[at(set)].ended; }

  size_t size() const { return sets_.size(); }
  const Machine& machine() const { return *machine_; }

 private:
  struct Set {
    std::vector<Configuration> places;  // sorted
    bool ended = false;
    std::vector<SetId> moves;  // by byte class, kUnknown until asked for; empty until one is
    std::optional<bool> takes_plain_text;  // from a boundary on, once asked for
  };
  struct Frame {
    StateId return_to;
    FrameId parent;
  };
  static constexpr SetId kUnknown = -2;

  static size_t at(SetId set) { return static_cast<size_t>(set); }
  FrameId push(StateId return_to, FrameId parent);
  FrameId copy_frame(const std::vector<Frame>& old, FrameId frame);
  void visit(StateId state, FrameId frame);
  SetId finish_visit();

  std::shared_ptr<const Machine> machine_;
  std::vector<Set> sets_;
  std::vector<Frame> frames_;  // [0] is the empty stack
  std::unordered_map<uint64_t, FrameId> frame_ids_;
  std::unordered_multimap<uint64_t, SetId> set_ids_;  // by hash of the set

  // The set under construction.
  std::vector<Configuration> seen_, building_;
  bool building_ended_ = false;
};

}  // namespace nmc
