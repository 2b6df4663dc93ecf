#include "runtime/engine/scheduler.h"

#include <cassert>

namespace nmc {

Scheduler::Scheduler(const KvLayout& layout, KvCapacity capacity, Limits limits)
    : layout_(layout),
      limits_(limits),
      global_(capacity.global_pages),
      sliding_(capacity.sliding_pages) {}

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
    int64_t count = std::min(s->pending(), limits_.prefill_chunk);
    s->pages->release_before_window(s->processed);
    [[maybe_unused]] bool grown = s->pages->grow(s->processed + count);
    assert(grown && "admission reserved these pages");
    work.push_back({s.get(), count});
  }
  return work;
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
  taken->pages.reset();
  return taken;
}

}  // namespace nmc
