#include "kernels/cuda/decode/hang.h"

#include <algorithm>
#include <utility>

namespace nmc::decode {
namespace {

std::string name_of(Awaited what) {
  switch (what) {
    case Awaited::kNone:
      break;
    case Awaited::kX:
      return "everybody's part of x";
    case Awaited::kLogits:
      return "everybody's part of the router's logits";
    case Awaited::kRecords:
      return "the rows' experts";
    case Awaited::kNorms:
      return "the rows' norms";
    case Awaited::kTokens:
      return "everybody's candidates for the next token";
    case Awaited::kHidden:
      return "everybody's hidden units";
    case Awaited::kQuery:
      return "q of its KV head";
    case Awaited::kPartials:
      return "the attention's partial sums";
    case Awaited::kWeights:
      return "the attention's weights";
    case Awaited::kOutput:
      return "the attention output";
    case Awaited::kFresh:
      return "the new token's key and value";
    case Awaited::kFreeSlot:
      return "a free slot of the ring of weights";
    case Awaited::kLanding:
      return "a chunk to land";
    case Awaited::kExperts:
      return "the layer's list of experts";
    case Awaited::kFreeRows:
      return "a free slot of the ring of rows";
  }
  return "nothing";
}

// Warps from 8 on only wait for others of their CTA, so they leave no records.
std::string role_of(int warp, bool wide) {
  static constexpr const char* kNarrow[] = {
      "producer",        "producer",  "routing", "hidden units out",
      "hidden units in", "output in", "query",   "merge"};
  static constexpr const char* kWide[] = {"producer", "producer", "rows",  "records",
                                          "query",    "merge",    "merge", "sums"};
  return warp < 8 ? (wide ? kWide : kNarrow)[warp] : "consumer";
}

// From the cause: who waits for other CTAs is nearer to it than who waits within his own, and of
// those the earliest.
int distance(Awaited what) {
  switch (what) {
    case Awaited::kNone:
      return 2;
    case Awaited::kFreeSlot:
    case Awaited::kLanding:
    case Awaited::kExperts:
    case Awaited::kFreeRows:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

std::string describe_hang(std::span<const HangRecord> records, bool wide, int layers) {
  const auto stuck = [](const HangRecord& r) { return r.what != Awaited::kNone; };
  if (std::ranges::none_of(records, stuck)) return {};
  const auto found = std::ranges::min_element(
      records, {}, [](const HangRecord& r) { return std::pair(distance(r.what), r.layers); });
  const auto at = static_cast<int>(found - records.begin());
  const int per_step = found->what == Awaited::kTokens ? 1 : layers;
  std::string text = "SM " + std::to_string(at / kMaxWarps) + ", " + role_of(at % kMaxWarps, wide) +
                     " warp, waited for " + name_of(found->what);
  if (found->what == Awaited::kTokens) {
    text += " of step " + std::to_string(found->layers);
  } else {
    text += " in layer " + std::to_string(found->layers % static_cast<uint32_t>(per_step)) +
            " of step " + std::to_string(found->layers / static_cast<uint32_t>(per_step));
  }
  if (found->expected != 0) {
    text +=
        ": " + std::to_string(found->seen) + " of " + std::to_string(found->expected) + " arrivals";
  }
  const auto others = std::ranges::count_if(records, stuck) - 1;
  return others == 0 ? text : text + "; " + std::to_string(others) + " more warps waited";
}

}  // namespace nmc::decode
