// The interface that kernels implement and the engine drives: tokens in, logits out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/cache/kv_layout.h"
#include "runtime/model/description.h"

namespace nmc {

enum class LogitsWanted : uint8_t { kNone, kLast, kAll };

// Consecutive new tokens of one sequence. Keys and values of all earlier positions are in the
// pages already; those of these tokens are written by the call.
struct SequenceStep {
  std::span<const int32_t> tokens;  // ids below the vocabulary, at least one
  int64_t first = 0;                // position of tokens[0]
  // Page tables (runtime/cache): entry i holds positions [64 i, 64 i + 64). They cover
  // first + tokens.size() positions; sliding entries that left the window may be kNoPage.
  std::span<const int32_t> global_pages;
  std::span<const int32_t> sliding_pages;
  LogitsWanted logits = LogitsWanted::kLast;
};

// How a device chooses tokens by itself: as sample_token does with these parameters and no others.
struct DeviceDraw {
  double temperature = 1, top_p = 1;
  uint64_t seed = 0;  // of the sequence's random stream
  uint64_t draw = 0;  // number of the first token's draw in it
};

// A sequence that goes on by itself: its token gives the next one, and so on.
struct DecodeStep {
  int32_t token = 0;
  int64_t position = 0;  // of the token; keys and values of all earlier ones are in the pages
  // As in SequenceStep: they cover `position` and as many tokens as there are steps.
  std::span<const int32_t> global_pages;
  std::span<const int32_t> sliding_pages;
  std::optional<DeviceDraw> draw = {};  // absent: the logits are wanted
};

struct Decoded {
  std::vector<int32_t> tokens;  // [steps][sequences]; of sequences without a draw: anything
  // A row of `vocab` values for each sequence without a draw, in memory of the executor's that
  // keeps them until its next call.
  std::vector<std::span<const float>> logits;
};

// How a long call lets others have the device in between.
struct Pauses {
  double seconds = 0;             // of work between two pauses, more or less
  std::function<Status()> pause;  // a failure ends the call
};

// How many pages of each pool an executor holds memory for.
struct KvCapacity {
  int64_t global_pages = 0;
  int64_t sliding_pages = 0;
};

// One device with a model on it and the memory of both page pools. One thread at a time, which says
// so first (enter_thread) when it is not the one that created the executor.
// Promise: the logits of a token do not depend on what else is in the batch, nor on how its prompt
// was cut into calls beyond what the executor documents.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual std::string name() const = 0;  // "reference", "cpu", "cuda: NVIDIA H200"
  virtual const ModelDescription& model() const = 0;
  virtual KvCapacity kv_capacity() const = 0;

  // The calling thread is about to use the executor: where a thread has a current device, this one
  // becomes it.
  virtual Status enter_thread() { return {}; }

  // Runs the steps of a batch, each of another sequence. `logits` receives float32 rows of
  // `vocab` values, in batch order: none, one, or one per token as each step wants. A failure is
  // final (kInternal): the executor must not be used again.
  virtual Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) = 0;

  // The same with pauses, in which decode may be called for sequences that are not in the batch.
  // Devices that cannot be interrupted make none.
  virtual Status forward_with_pauses(std::span<const SequenceStep> batch,
                                     std::vector<float>* logits, const Pauses& pauses) {
    (void)pauses;
    return forward(batch, logits);
  }

  // ---- several tokens without the host. Executors that cannot do it keep these as they are.
  // The most steps of one call of decode; 0: there is no decode.
  virtual int64_t most_steps() const { return 0; }
  // Runs `steps` steps of different sequences; one step if there is a sequence without a draw.
  // Tokens from `vocabulary` on are never drawn. Keys and values of all tokens but the last are in
  // the pages afterwards. The same tokens, to the bit, as with forward and sample_token, whatever
  // else is in the batch and however the steps are cut into calls. Failures as with forward.
  virtual Status decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary,
                        Decoded* out) {
    (void)batch, (void)steps, (void)vocabulary, (void)out;
    return unsupported("this device does not choose tokens");
  }

  // ---- pages as bytes, for storage. Executors that cannot do it keep these as they are.
  // Names the form of the bytes and the arithmetic that makes them: two executors on one model that
  // say the same can go on with each other's pages, to the same bits. Empty: pages cannot be
  // stored.
  virtual std::string page_format() const { return ""; }
  // Bytes of one page of a pool, all its layers.
  virtual uint64_t page_bytes(KvPool) const { return 0; }
  // Copies a full page out (in). Spans are page_bytes long. Failures are those of the device.
  virtual Status read_page(KvPool, int32_t, std::span<uint8_t>) {
    return unsupported("this device cannot store its pages");
  }
  virtual Status write_page(KvPool, int32_t, std::span<const uint8_t>) {
    return unsupported("this device cannot store its pages");
  }
};

}  // namespace nmc
