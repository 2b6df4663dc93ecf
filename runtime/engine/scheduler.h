// Which sequences run, and what the next call of the executor holds.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "runtime/cache/page_pool.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/sequence.h"

namespace nmc {

// Admission is by reservation: a sequence starts only when the pages of its whole possible length
// are set aside, so a running sequence never lacks a page. Invariant: the sums of `reserved` over
// `running` stay within the pools. Used by the engine's thread only.
class Scheduler {
 public:
  struct Limits {
    int64_t parallel = 1;
    int64_t prefill_chunk = 1;
  };
  // A sequence's share of one executor call: the next `count` of its tokens.
  struct Work {
    Sequence* sequence;
    int64_t count;
  };

  Scheduler(const KvLayout& layout, KvCapacity capacity, Limits limits);

  void add(std::unique_ptr<Sequence> sequence) { waiting_.push_back(std::move(sequence)); }
  // Starts waiting sequences in order of arrival while slots and pages last.
  void admit();
  // One token of every sequence that decodes, and one chunk of the oldest one that still reads its
  // prompt. Pages are in place for all of it.
  std::vector<Work> next_step();
  // Takes a finished or cancelled sequence out, wherever it is; its pages are free afterwards.
  std::unique_ptr<Sequence> remove(Sequence* sequence);

  const std::list<std::unique_ptr<Sequence>>& running() const { return running_; }
  const std::deque<std::unique_ptr<Sequence>>& waiting() const { return waiting_; }
  const PagePool& pool(KvPool pool) const { return pool == KvPool::kGlobal ? global_ : sliding_; }

 private:
  const KvLayout layout_;
  const Limits limits_;
  PagePool global_, sliding_;
  PageCounts reserved_;  // sums over running_
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::list<std::unique_ptr<Sequence>> running_;  // in order of admission
};

}  // namespace nmc
