#include "runtime/engine/scheduler.h"

#include <cassert>

namespace nmc {
namespace {

// Of a prompt whose logits are wanted, in one step: each costs a row of the whole vocabulary.
constexpr int64_t kScoredTokens = 64;

}  // namespace

Scheduler::Scheduler(const KvLayout& layout, KvCapacity capacity, Limits limits)
    : layout_(layout),
      limits_(std::move(limits)),
      global_(capacity.global_pages),
      sliding_(capacity.sliding_pages),
      cache_(layout_, &global_, &sliding_, limits_.page_hasher) {}

void Scheduler::admit() {
  while (!waiting_.empty() && static_cast<int64_t>(running_.size()) < limits_.parallel) {
    Sequence& s = *waiting_.front();
    if (!running_.empty() && !has_room(s)) return;
    s.to_read = static_cast<int64_t>(s.tokens.size());
    s.pages = std::make_unique<SequencePages>(layout_, &global_, &sliding_);
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// The pages of a sequence that has read its tokens and written a page.
PageCounts Scheduler::needed_soon(const Sequence& s) const {
  int64_t tokens = std::min(static_cast<int64_t>(s.tokens.size()) + kPageTokens, s.token_limit);
  return pages_for(layout_, tokens, s.pages && !s.reading() ? 1 : limits_.prefill_chunk);
}

bool Scheduler::has_room(const Sequence& sequence) const {
  PageCounts rest{global_.free_pages(), sliding_.free_pages()};
  auto spend = [&](const PageCounts& needed, const PageCounts& held) {
    rest.global -= std::max<int64_t>(0, needed.global - held.global);
    rest.sliding -= std::max<int64_t>(0, needed.sliding - held.sliding);
  };
  for (const auto& s : running_) spend(needed_soon(*s), s->pages->held());
  const PageCounts before = rest;
  auto fits = [&] { return rest.global >= 0 && rest.sliding >= 0; };
  spend(needed_soon(sequence), {});
  if (fits() || !limits_.prefix_cache || sequence.scores()) return fits();
  rest = before;
  spend(needed_soon(sequence), cache_.in_use(sequence.tokens));
  return fits();
}

std::vector<Scheduler::Work> Scheduler::next_step(bool read) {
  std::vector<Work> work;
  std::vector<Sequence*> decoding;
  for (auto& s : running_) {
    if (!s->reading()) decoding.push_back(s.get());
  }
  for (Sequence* s : decoding) {
    // One that had to yield to an older one has no pages.
    if (s->pages && make_room(s, 1, &work)) work.push_back({s, 1});
  }
  if (read || work.empty()) add_prompts(&work);
  return work;
}

std::vector<Scheduler::Work> Scheduler::next_decodes() {
  std::vector<Work> work;
  for (auto& s : running_) {
    if (s->reading()) continue;
    s->pages->release_before_window(s->processed);
    if (reserve(s.get(), 1)) work.push_back({s.get(), 1});
  }
  return work;
}

bool Scheduler::reserve(Sequence* s, int64_t count) {
  return s->pages->grow(s->processed + count);
}

void Scheduler::add_prompts(std::vector<Work>* work) {
  int64_t budget = limits_.prefill_chunk;
  std::vector<Sequence*> readers;
  for (auto& s : running_) {
    if (s->reading()) readers.push_back(s.get());
  }
  std::vector<Sequence*> open = readers;  // those whose turn can come in this step
  while (budget > 0 && !open.empty()) {
    Sequence* chosen = order_.next(open);
    Sequence* s = stand_in(chosen, readers);
    bool had_its_turn = std::find(open.begin(), open.end(), s) == open.end();
    std::erase(open, chosen);
    std::erase(open, s);
    if (had_its_turn) continue;
    if (!s->opened) open_prefix(s);
    int64_t count = std::min({s->pending(), budget, s->scores() ? kScoredTokens : budget});
    if (make_room(s, count, work)) {
      work->push_back({s, count});
      budget -= count;
    }
    std::erase_if(open, [](Sequence* r) { return !r->pages; });
    std::erase_if(readers, [](Sequence* r) { return !r->pages; });
  }
}

// Who is to read first what `sequence` would read: texts that begin alike are read once, as far as
// they agree.
Sequence* Scheduler::stand_in(Sequence* sequence, const std::vector<Sequence*>& readers) {
  while (limits_.prefix_cache && !sequence->opened && !sequence->scores() && readers.size() > 1) {
    SharedReading shared = shared_reading(*sequence, readers, cache_.match(sequence->tokens));
    if (!shared.reader) break;
    shared.reader->keep_at.insert(shared.tokens);
    sequence = shared.reader;
  }
  return sequence;
}

// False: it was itself the youngest and had to yield.
bool Scheduler::make_room(Sequence* s, int64_t count, std::vector<Work>* work) {
  s->pages->release_before_window(s->processed);
  while (!s->pages->grow(s->processed + count)) {
    assert(running_.size() > 1 && "one sequence of any length fits the pools");
    bool itself = running_.back().get() == s;
    preempt_youngest(work);
    if (itself) return false;
  }
  return true;
}

void Scheduler::preempt_youngest(std::vector<Work>* work) {
  ++preemptions_;
  Sequence& s = *running_.back();
  std::erase_if(*work, [&](const Work& w) { return w.sequence == &s; });
  keep_prefix(&s, s.processed);
  s.pages.reset();
  s.to_read = s.processed = 0;
  s.opened = false;
  waiting_.push_front(std::move(running_.back()));
  running_.pop_back();
}

// Not before the first chunk: until then another sequence may have read the same prefix.
void Scheduler::open_prefix(Sequence* s) {
  s->opened = true;
  s->keep_at.insert(s->prompt_size());
  if (!limits_.prefix_cache || s->scores()) return;
  PrefixCache::Match match = cache_.open(s->tokens, s->pages.get());
  s->processed = match.tokens;
  s->keep_at.insert(match.known);  // where two texts parted a third one may part too
  s->generation->set_found(std::min(match.tokens, s->prompt_size()));
}

void Scheduler::done(const Work& work) {
  Sequence* s = work.sequence;
  int64_t before = s->processed;
  s->processed += work.count;
  for (auto at = s->keep_at.upper_bound(before); at != s->keep_at.end(); ++at) {
    if (*at > s->processed) return;
    keep_prefix(s, *at);
  }
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
  keep_prefix(taken.get(), taken->processed);
  taken->pages.reset();
  return taken;
}

void Scheduler::check_invariants() const {
  cache_.check_invariants();
  for (const auto& s : waiting_) assert(!s->pages);
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
