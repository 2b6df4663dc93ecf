#include "runtime/engine/scheduler.h"

#include <cassert>

namespace nmc {

Scheduler::Scheduler(const KvLayout& layout, KvCapacity capacity, Limits limits)
    : layout_(layout),
      limits_(std::move(limits)),
      global_(capacity.global_pages),
      sliding_(capacity.sliding_pages),
      cache_(layout_, &global_, &sliding_, limits_.page_hasher) {}

void Scheduler::admit() {
  while (!waiting_.empty() && static_cast<int64_t>(running_.size()) < limits_.parallel) {
    Sequence& s = *waiting_.front();
    PageCounts need = pages_for(layout_, s.token_limit, limits_.prefill_chunk);
    if (reserved_.global + need.global > global_.size() ||
        reserved_.sliding + need.sliding > sliding_.size()) {
      return;
    }
    s.reserved = need;
    reserved_.global += need.global;
    reserved_.sliding += need.sliding;
    s.pages = std::make_unique<SequencePages>(layout_, &global_, &sliding_);
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

std::vector<Scheduler::Work> Scheduler::next_step() {
  std::vector<Work> work;
  bool prefill_taken = false;
  for (auto& s : running_) {
    if (s->prefilling() && prefill_taken) continue;
    prefill_taken |= s->prefilling();
    if (!s->opened) open_prefix(s.get());
    int64_t count = std::min(s->pending(), limits_.prefill_chunk);
    s->pages->release_before_window(s->processed);
    [[maybe_unused]] bool grown = s->pages->grow(s->processed + count);
    assert(grown && "admission reserved these pages");
    work.push_back({s.get(), count});
  }
  return work;
}

// Not before the first chunk: until then another sequence may have read the same prefix.
void Scheduler::open_prefix(Sequence* s) {
  s->opened = true;
  if (!limits_.prefix_cache) return;
  PrefixCache::Match match = cache_.open(s->tokens, s->pages.get());
  s->processed = match.tokens;
  s->branch = match.known;
  s->generation->set_cached(match.tokens);
}

void Scheduler::done(const Work& work) {
  Sequence* s = work.sequence;
  int64_t before = s->processed;
  s->processed += work.count;
  auto reached = [&](int64_t position) { return before < position && position <= s->processed; };
  // Others will go on from here: the end of the prompt becomes the middle of a dialogue, and where
  // two texts parted a third one may part too.
  if (reached(s->branch)) keep_prefix(s, s->branch);
  if (reached(s->prompt_size())) keep_prefix(s, s->prompt_size());
}

void Scheduler::keep_prefix(Sequence* s, int64_t tokens) {
  if (!limits_.prefix_cache) return;
  cache_.keep(std::span(s->tokens).first(static_cast<size_t>(tokens)), !s->request.session.empty(),
              s->pages.get());
}

std::unique_ptr<Sequence> Scheduler::remove(Sequence* sequence) {
  auto take = [&](auto& list) -> std::unique_ptr<Sequence> {
    for (auto it = list.begin(); it != list.end(); ++it) {
      if (it->get() != sequence) continue;
      std::unique_ptr<Sequence> taken = std::move(*it);
      list.erase(it);
      return taken;
    }
    return nullptr;
  };
  if (auto waiting = take(waiting_)) return waiting;
  auto taken = take(running_);
  assert(taken);
  reserved_.global -= taken->reserved.global;
  reserved_.sliding -= taken->reserved.sliding;
  keep_prefix(taken.get(), taken->processed);
  taken->pages.reset();
  return taken;
}

void Scheduler::check_invariants() const {
  cache_.check_invariants();
  std::vector<int64_t> global(static_cast<size_t>(global_.size()));
  std::vector<int64_t> sliding(static_cast<size_t>(sliding_.size()));
  for (const auto& s : running_) {
    for (int32_t page : s->pages->global()) ++global[static_cast<size_t>(page)];
    for (int32_t page : s->pages->sliding()) {
      if (page != kNoPage) ++sliding[static_cast<size_t>(page)];
    }
  }
  for (int32_t page = 0; page < global_.size(); ++page)
    assert(global_.users(page) == global[static_cast<size_t>(page)]);
  for (int32_t page = 0; page < sliding_.size(); ++page)
    assert(sliding_.users(page) == sliding[static_cast<size_t>(page)]);
}

}  // namespace nmc
