// Which sequences run, and what the next call of the executor holds.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "runtime/cache/page_pool.h"
#include "runtime/cache/prefix_cache.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/prompt_order.h"
#include "runtime/engine/sequence.h"

namespace nmc {

// Sequences take pages as they grow. When there is none left, the youngest one yields: it gives its
// pages back and waits, before all who never ran, to read its tokens again and go on. The oldest
// one therefore always gets on, for the pools hold at least one sequence of any length (the engine
// checks that). Invariants: whoever runs is older than whoever waits; pages that no running
// sequence uses are free or can be evicted from the prefix cache. Used by the engine's thread only.
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
  // Starts waiting sequences in order of arrival while there are slots, and pages for all that the
  // running ones still have to read and one more page for each.
  void admit();
  // One token of every sequence that decodes, and up to `prefill_chunk` tokens of prompts, behind
  // what the prefix cache holds of them, when `read` says so or nobody decodes. Pages are in place
  // for all of it.
  std::vector<Work> next_step(bool read);
  // One token of every sequence that decodes and need not take a page from another one.
  std::vector<Work> next_decodes();
  // Takes pages for `count` tokens, if there are any.
  bool reserve(Sequence* sequence, int64_t count);
  // The keys and values of `work` are in the pages.
  void done(const Work& work);
  // Takes a finished or cancelled sequence out, wherever it is; its full pages go to the prefix
  // cache, and none of its pages is in use afterwards.
  std::unique_ptr<Sequence> remove(Sequence* sequence);

  // Oldest first.
  const std::list<std::unique_ptr<Sequence>>& running() const { return running_; }
  const std::deque<std::unique_ptr<Sequence>>& waiting() const { return waiting_; }
  const PagePool& pool(KvPool pool) const { return pool == KvPool::kGlobal ? global_ : sliding_; }
  PrefixCache& cache() { return cache_; }
  uint64_t preemptions() const { return preemptions_; }

  // Asserts that exactly the pages of running sequences are in use, and the cache's invariants.
  void check_invariants() const;

 private:
  PageCounts needed_soon(const Sequence& sequence) const;
  bool has_room(const Sequence& sequence) const;
  void add_prompts(std::vector<Work>* work);
  Sequence* stand_in(Sequence* sequence, const std::vector<Sequence*>& readers);
  bool make_room(Sequence* sequence, int64_t count, std::vector<Work>* work);
  void preempt_youngest(std::vector<Work>* work);
  void open_prefix(Sequence* sequence);
  void keep_prefix(Sequence* sequence, int64_t tokens);

  const KvLayout layout_;
  const Limits limits_;
  PagePool global_, sliding_;
  PrefixCache cache_;
  PromptOrder order_;
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::list<std::unique_ptr<Sequence>> running_;
  uint64_t preemptions_ = 0;
};

}  // namespace nmc
