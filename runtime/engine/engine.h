// The engine: many requests, one executor. The only door through which servers and tools generate.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/cache/page_hash.h"
#include "runtime/engine/cache_file.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/generation.h"
#include "runtime/engine/request.h"

namespace nmc {

struct EngineOptions {
  int64_t context = 0;          // tokens of one sequence; 0: the model's
  int64_t parallel = 4;         // sequences that run at once
  int64_t max_queue = 64;       // requests that may wait
  int64_t prefill_chunk = 256;  // prompt tokens read between two decode steps
  // Of the time while prompts are read, what running streams get; in [0, 0.95]. 0: a chunk is read
  // beside every decode step.
  double decode_share = 0.5;
  // On devices that choose tokens themselves: the longest that they go on without looking who came,
  // left or listens, and the work on prompts between two chances for running streams. In seconds.
  double burst_seconds = 0.016;
  double pause_seconds = 0.005;
  // Token ids that the tokenizer knows; rows of the model beyond them are padding: refused in
  // prompts, never drawn, no part of logprobs. 0: all.
  int64_t vocabulary = 0;
  bool prefix_cache = true;            // reuse the pages of prompts that begin alike
  PageHasher page_hasher = hash_page;  // how such pages are found
  // Where cached pages outlive the engine: read at its start, written at its end; a file that does
  // not fit is left out with a warning. Empty path: nowhere. The identity names model and template.
  CacheFile cache_file = {};
  bool check_invariants = false;  // after every step; unoptimised builds always do
};

struct EngineStats {
  int64_t running = 0, waiting = 0;
  // Pages that no running sequence uses are free: empty, or cached and evicted when needed.
  int64_t global_pages_free = 0, global_pages_cached = 0, global_pages = 0;
  int64_t sliding_pages_free = 0, sliding_pages_cached = 0, sliding_pages = 0;
  // Since the start. Prompt tokens are those that were read; cached ones did not have to be.
  uint64_t prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0;
  // Sequences that had to yield their pages, and tokens that were read again because of it.
  uint64_t preemptions = 0, recomputed_tokens = 0;
  bool healthy = true;  // false after a device failure: every request fails from then on
};

// The page counts an executor must hold so that `options.parallel` sequences of the full context
// run at once. With fewer, sequences yield to older ones when they grow together; one sequence of
// the full context must fit.
KvCapacity kv_capacity_for(const ModelDescription& model, const EngineOptions& options);

// Owns the executor and the one thread that drives it. Thread-safe.
class Engine {
 public:
  // Checks that at least one sequence of the full context fits the executor's pages.
  static Result<std::unique_ptr<Engine>> create(std::unique_ptr<Executor> executor,
                                                EngineOptions options);
  // Cancels what runs and waits for the thread.
  ~Engine();

  // Queues a request. Errors: kInvalidArgument names the field (also when the prompt is longer than
  // the context, with both numbers), kExhausted when the queue is full, kInternal after a device
  // failure.
  Result<std::shared_ptr<Generation>> submit(GenerationRequest request);
  // Queues `n` answers to one request, all or none. Their pages of the prompt are shared. The first
  // one is what submit(request) would give; each has a seed of its own, derived from the request's.
  Result<std::vector<std::shared_ptr<Generation>>> submit(const GenerationRequest& request,
                                                          int64_t n);

  int64_t context() const;
  int64_t max_queue() const;
  const ModelDescription& model() const;
  EngineStats stats() const;
  // One entry for each of `parallel` slots: the progress of the request that runs there, or
  // nothing.
  std::vector<std::optional<Generation::Progress>> slots() const;

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nmc
