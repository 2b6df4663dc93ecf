// How the device's time is divided between streams that run and prompts that come in.
#pragma once

namespace nmc {

// After a step that also read prompts, decoding has the device to itself until it has had its share
// of the time since. Streams therefore slow down and never stop: between two tokens of a stream lie
// at most one decode step and one chunk. One thread at a time.
class DecodeShare {
 public:
  // `share`: in [0, 1); 0: prompts are read in every step.
  explicit DecodeShare(double share) : ratio_(share / (1 - share)) {}

  // The next step may read prompts.
  bool prefill_due() const { return owed_ <= 0; }
  // A step that did one or both took `seconds`.
  void spent(double seconds, bool decoded, bool read);
  // Nothing but prompts was read for `seconds`, while streams waited or while there were none.
  void read_alone(double seconds, bool streams) { owed_ = streams ? owed_ + seconds * ratio_ : 0; }
  // Seconds that decoding may have before prompts are due.
  double owed() const { return owed_; }

 private:
  const double ratio_;  // decoding to prefill
  double decode_ = 0;   // seconds of a step that only decodes, lately
  double owed_ = 0;     // seconds of decoding until prompts are due
};

}  // namespace nmc
