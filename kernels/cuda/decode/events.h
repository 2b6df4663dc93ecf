// What a CTA marks with a time stamp, once a layer, in builds of the decode kernel that trace.
#pragma once

#include <iterator>

namespace nmc::decode {

enum class Event {
  kXSeen,
  kLogitOut,
  kLogitsSeen,
  kTopKnown,
  kHeld,  // the consumers hold QKV groups
  kQkvDone,
  kQPublished,
  kQSeen,
  kOutputHeld,
  kValuesDone,
  kPartialsSeen,
  kOSeen,
  kUpDone,
  kHiddenPublished,
  kHiddenSeen,
  kDownDone,
  kXPublished,
  kEarlyStarted,  // the producer comes to a part of the stream, to its last batch if there are some
  kUpStarted,
  kDownStarted,
  kCount
};
constexpr int kEvents = static_cast<int>(Event::kCount);

constexpr const char* kEventNames[] = {"x seen",
                                       "logits out",
                                       "logits seen",
                                       "experts known",
                                       "QKV held",
                                       "QKV done",
                                       "q published",
                                       "q seen",
                                       "O held",
                                       "values done",
                                       "attention merged",
                                       "attention output seen",
                                       "gate and up done",
                                       "hidden units published",
                                       "hidden units seen",
                                       "down done",
                                       "x published",
                                       "keys and values begun",
                                       "gate and up begun",
                                       "down begun"};
static_assert(std::size(kEventNames) == kEvents);

// What the first consumer warp and the first producer of a CTA wait for: ns since the launch, as of
// the end of a layer's down.
enum class Wait {
  kRingEmpty,   // consumer: for a chunk to land
  kDependency,  // consumer: for activations
  kRingFull,    // producer: for a free slot
  kCount
};
constexpr int kWaits = static_cast<int>(Wait::kCount);

constexpr const char* kWaitNames[] = {"ring empty", "activations", "ring full"};
static_assert(std::size(kWaitNames) == kWaits);

constexpr int kStamps = kEvents + kWaits;  // of a CTA and layer

}  // namespace nmc::decode
