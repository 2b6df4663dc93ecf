// Which sequences run, and what the next call of the executor holds.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "runtime/cache/page_pool.h"
#include "runtime/cache/prefix_cache.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/sequence.h"

namespace nmc {

// Admission is by reservation: a sequence starts only when the pages of its whole possible length
// are set aside, so a running sequence never lacks a page. Invariant: the sums of `reserved` over
// `running` stay within the pools, and no sequence uses more than its own; what is not in use is
// free or can be evicted from the prefix cache. Used by the engine's thread only.
class Scheduler {
 public:
  struct Limits {
    int64_t parallel = 1;
    int64_t prefill_chunk = 1;
    bool prefix_cache = true;
    PageHasher page_hasher = hash_page;
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
  // prompt, behind what the prefix cache holds of it. Pages are in place for all of it.
  std::vector<Work> next_step();
  // The keys and values of `work` are in the pages.
  void done(const Work& work);
  // Takes a finished or cancelled sequence out, wherever it is; its full pages go to the prefix
  // cache, and none of its pages is in use afterwards.
  std::unique_ptr<Sequence> remove(Sequence* sequence);

  const std::list<std::unique_ptr<Sequence>>& running() const { return running_; }
  const std::deque<std::unique_ptr<Sequence>>& waiting() const { return waiting_; }
  const PagePool& pool(KvPool pool) const { return pool == KvPool::kGlobal ? global_ : sliding_; }

  // Asserts that exactly the pages of running sequences are in use, and the cache's invariants.
  void check_invariants() const;

 private:
  void open_prefix(Sequence* sequence);
  void keep_prefix(Sequence* sequence, int64_t tokens);

  const KvLayout layout_;
  const Limits limits_;
  PagePool global_, sliding_;
  PrefixCache cache_;
  PageCounts reserved_;  // sums over running_
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::list<std::unique_ptr<Sequence>> running_;  // in order of admission
};

}  // namespace nmc
