// The interface that kernels implement and the engine drives: tokens in, logits out.
#pragma once

#include <cstdint>
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

// How many pages of each pool an executor holds memory for.
struct KvCapacity {
  int64_t global_pages = 0;
  int64_t sliding_pages = 0;
};

// One device with a model on it and the memory of both page pools. One thread at a time.
// Promise: the logits of a token do not depend on what else is in the batch, nor on how its prompt
// was cut into calls beyond what the executor documents.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual std::string name() const = 0;  // "reference", "cpu", "cuda: NVIDIA H200"
  virtual const ModelDescription& model() const = 0;
  virtual KvCapacity kv_capacity() const = 0;

  // Runs the steps of a batch, each of another sequence. `logits` receives float32 rows of
  // `vocab` values, in batch order: none, one, or one per token as each step wants. A failure is
  // final (kInternal): the executor must not be used again.
  virtual Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) = 0;

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
