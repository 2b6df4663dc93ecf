#include "runtime/engine/generation.h"

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
void Generation::set_cached(int64_t tokens) {
  std::lock_guard lock(mutex_);
  progress_.cached_tokens = progress_.processed_tokens = tokens;
}
void Generation::set_processed(int64_t tokens) {
  std::lock_guard lock(mutex_);
  progress_.processed_tokens = tokens;
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
