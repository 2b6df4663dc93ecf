#include "runtime/engine/generation.h"

#include <algorithm>
#include <cassert>

namespace nmc {

std::optional<GeneratedToken> Generation::next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return done_ || !tokens_.empty(); });
  if (tokens_.empty()) return std::nullopt;
  GeneratedToken token = std::move(tokens_.front());
  tokens_.pop_front();
  return token;
}

bool Generation::finished() const {
  std::lock_guard lock(mutex_);
  return done_ && tokens_.empty();
}
FinishReason Generation::reason() const {
  std::lock_guard lock(mutex_);
  assert(done_);
  return reason_;
}
Status Generation::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}
Generation::Progress Generation::progress() const {
  std::lock_guard lock(mutex_);
  return progress_;
}
std::vector<GeneratedToken> Generation::prompt_scores() const {
  std::lock_guard lock(mutex_);
  return prompt_scores_;
}
void Generation::cancel() {
  std::lock_guard lock(mutex_);
  cancel_ = true;
}

void Generation::push(GeneratedToken token) {
  std::lock_guard lock(mutex_);
  ++progress_.generated_tokens;
  tokens_.push_back(std::move(token));
  changed_.notify_all();
}
void Generation::push_prompt_score(GeneratedToken token) {
  std::lock_guard lock(mutex_);
  prompt_scores_.push_back(std::move(token));
}
void Generation::count_end() {
  std::lock_guard lock(mutex_);
  progress_.end_tokens = 1;
}
int64_t Generation::set_found(int64_t tokens) {
  int64_t fresh = set_read(tokens);
  std::lock_guard lock(mutex_);
  progress_.cached_tokens += fresh;
  return fresh;
}
int64_t Generation::set_read(int64_t tokens) {
  std::lock_guard lock(mutex_);
  int64_t fresh = std::max<int64_t>(0, tokens - progress_.processed_tokens);
  progress_.processed_tokens += fresh;
  return fresh;
}
void Generation::finish(FinishReason reason, Status status) {
  std::lock_guard lock(mutex_);
  done_ = true;
  reason_ = reason;
  status_ = std::move(status);
  changed_.notify_all();
}
bool Generation::cancel_requested() const {
  std::lock_guard lock(mutex_);
  return cancel_;
}

}  // namespace nmc
