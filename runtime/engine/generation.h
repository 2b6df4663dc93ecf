// The client's end of one running request.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/engine/request.h"

namespace nmc {

// A channel from the engine's thread to one client. Thread-safe. Tokens arrive in order; after the
// last one `finished` turns true and the reason is set for good.
class Generation {
 public:
  struct Progress {
    int64_t prompt_tokens = 0;     // of the request
    int64_t processed_tokens = 0;  // of the prompt, read or found in the cache so far
    int64_t cached_tokens = 0;     // of the prompt, found in the cache
    int64_t generated_tokens = 0;
    int64_t end_tokens = 0;  // 1 when a token that is no part of the output ended it
  };                         // none of them ever falls

  // ---- the client's side
  // The next token; empty when `timeout` passed or the generation finished (ask `finished`).
  std::optional<GeneratedToken> next(std::chrono::milliseconds timeout);
  // True once every token was taken and no more will come.
  bool finished() const;
  FinishReason reason() const;  // valid once finished
  Status status() const;        // why, when the reason is kError
  Progress progress() const;
  // GenerationRequest::prompt_logprobs: the tokens of the prompt from the second on, with what was
  // thought of them; all of them are here when the first token is, or the end.
  std::vector<GeneratedToken> prompt_scores() const;
  // Asks the engine to stop; it does so before its next step. The stream still finishes.
  void cancel();

  // ---- the engine's side
  explicit Generation(int64_t prompt_tokens) { progress_.prompt_tokens = prompt_tokens; }
  void push(GeneratedToken token);
  void push_prompt_score(GeneratedToken token);
  // The first `tokens` of the prompt were found in the cache, or read: what of it is new counts.
  // Returns that number: 0 when a prompt is read again.
  int64_t set_found(int64_t tokens);
  int64_t set_read(int64_t tokens);
  void count_end();
  void finish(FinishReason reason, Status status = {});
  bool cancel_requested() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_.
  std::deque<GeneratedToken> tokens_;
  std::vector<GeneratedToken> prompt_scores_;
  Progress progress_;
  bool done_ = false, cancel_ = false;
  FinishReason reason_ = FinishReason::kCancelled;
  Status status_;
};

}  // namespace nmc
