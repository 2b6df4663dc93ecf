// Pages of earlier texts, kept for later texts that begin alike.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/cache/kv_layout.h"
#include "runtime/cache/page_file.h"
#include "runtime/cache/page_hash.h"
#include "runtime/cache/page_pool.h"
#include "runtime/cache/sequence_pages.h"

namespace nmc {

// A tree of full pages: a node is 64 tokens behind those of its parent. It holds the page of the
// global pool, and that of the sliding pool where some text ended or parted from another: only
// there can a new text go on. Pages are found by hash and believed by their tokens.
//
// When a pool runs short, the pages least recently useful go first: those of texts seen once before
// those seen twice or named by a session. Pages that a sequence uses stay.
//
// Invariants: whoever uses the global page of a node uses those of all its ancestors, so that among
// idle pages there is always a leaf to evict; a node without any page has children.
// Not thread-safe: the engine's thread owns it.
class PrefixCache {
 public:
  // All must outlive the cache, which becomes the evictor of both pools.
  PrefixCache(const KvLayout& layout, PagePool* global, PagePool* sliding,
              PageHasher hasher = hash_page);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  struct Match {
    int64_t tokens = 0;  // held by both pools as far as a continuation sees them
    int64_t known = 0;   // seen before, at least `tokens`: where the text parts from others
  };
  // What `open` would find, in whole pages.
  int64_t match(std::span<const int32_t> tokens) const;
  // The pages of that match which some sequence uses: another user costs nothing.
  PageCounts in_use(std::span<const int32_t> tokens) const;

  // Gives a sequence without pages the longest such prefix of `tokens`, in whole pages and short of
  // the last token.
  Match open(std::span<const int32_t> tokens, SequencePages* pages);

  // Holds the full pages of `tokens`, all of which are in `pages`, for later: also those of the
  // sliding pool that a continuation behind the last full page sees. Where equal pages are held
  // already, the sequence goes on with those and gives its own back. `named`: the text belongs to a
  // session.
  void keep(std::span<const int32_t> tokens, bool named, SequencePages* pages);

  // What is held, the most useful first and parents before their children, and where.
  struct Contents {
    std::vector<StoredPage> pages;
    std::vector<int32_t> global_ids, sliding_ids;  // kNoPage: none
  };
  Contents contents() const;
  // Takes up such pages again, as far as free pages allow. `write` puts the content of entry
  // `index` into a page of a pool; its failure is returned. Returns the tokens held. Nothing must
  // be held or in use yet.
  using PageWriter = std::function<Status(size_t index, KvPool pool, int32_t page)>;
  Result<int64_t> restore(const std::vector<StoredPage>& pages, const PageWriter& write);

  // Asserts the invariants; for debugging, linear in the size.
  void check_invariants() const;

 private:
  using NodeId = int32_t;
  static constexpr NodeId kNone = -1;
  // Evicted in ascending order: important, time of use, place in the text, node.
  using Rank = std::tuple<bool, uint64_t, int64_t, NodeId>;

  struct Node {
    NodeId parent = kNone;
    int64_t depth = 0;  // pages before this one
    int64_t children = 0;
    PageHash hash;
    std::array<int32_t, kPageTokens> tokens;
    int32_t global = kNoPage, sliding = kNoPage;
    bool important = false;
    uint64_t used = 0, sliding_used = 0;  // times
  };
  struct HashOfHash {
    size_t operator()(const PageHash& h) const { return static_cast<size_t>(h.low); }
  };

  Node& at(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const Node& at(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Rank global_rank(NodeId id) const;
  Rank sliding_rank(NodeId id) const;
  // The first page that a continuation behind `pages` full pages sees.
  int64_t first_seen(int64_t pages) const;
  bool matches(NodeId id, NodeId parent, std::span<const int32_t> tokens) const;
  std::vector<NodeId> find(std::span<const int32_t> tokens, size_t pages) const;
  // How many of the chain's nodes a continuation can stand on.
  size_t usable(const std::vector<NodeId>& chain) const;

  NodeId add(NodeId parent, const PageHash& hash, std::span<const int32_t> tokens, int32_t global);
  void hold_sliding(NodeId id, int32_t page);
  // A page for entry `index`, filled; kNoPage when the pool has none.
  Result<int32_t> take_filled(size_t index, KvPool pool, const PageWriter& write);
  void touch(NodeId id, bool important, bool sliding);
  void drop_sliding(NodeId id);
  void remove(NodeId id);
  // Removes the node and its ancestors as long as they hold nothing.
  void prune(NodeId id);
  void evict_global();
  void evict_sliding();

  const KvLayout& layout_;
  PagePool* global_pool_;
  PagePool* sliding_pool_;
  const PageHasher hasher_;
  uint64_t clock_ = 0;
  std::vector<Node> nodes_;
  std::vector<NodeId> unused_;  // entries of nodes_
  std::unordered_map<PageHash, NodeId, HashOfHash> index_;
  std::set<Rank> global_order_, sliding_order_;  // nodes with a page of that pool
};

}  // namespace nmc
