#include "runtime/cache/prefix_cache.h"

#include <algorithm>
#include <cassert>

namespace nmc {
namespace {

std::span<const int32_t> page_tokens(std::span<const int32_t> tokens, size_t page) {
  return tokens.subspan(page * kPageTokens, kPageTokens);
}

}  // namespace

PrefixCache::PrefixCache(const KvLayout& layout, PagePool* global, PagePool* sliding,
                         PageHasher hasher)
    : layout_(layout), global_pool_(global), sliding_pool_(sliding), hasher_(std::move(hasher)) {
  global_pool_->set_evictor([this] { evict_global(); });
  sliding_pool_->set_evictor([this] { evict_sliding(); });
}

PrefixCache::~PrefixCache() {
  for (const Rank& rank : global_order_) global_pool_->uncache(at(std::get<NodeId>(rank)).global);
  for (const Rank& rank : sliding_order_)
    sliding_pool_->uncache(at(std::get<NodeId>(rank)).sliding);
}

int64_t PrefixCache::match(std::span<const int32_t> tokens) const {
  return static_cast<int64_t>(usable(find(tokens, (tokens.size() - 1) / kPageTokens))) *
         kPageTokens;
}

PageCounts PrefixCache::in_use(std::span<const int32_t> tokens) const {
  PageCounts counts;
  std::vector<NodeId> chain = find(tokens, (tokens.size() - 1) / kPageTokens);
  size_t count = usable(chain);
  auto first = static_cast<size_t>(first_seen(static_cast<int64_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    const Node& node = at(chain[i]);
    counts.global += node.global != kNoPage && global_pool_->users(node.global) > 0;
    counts.sliding +=
        i >= first && node.sliding != kNoPage && sliding_pool_->users(node.sliding) > 0;
  }
  return counts;
}

PrefixCache::Match PrefixCache::open(std::span<const int32_t> tokens, SequencePages* pages) {
  std::vector<NodeId> chain = find(tokens, (tokens.size() - 1) / kPageTokens);
  size_t count = usable(chain);
  auto first = static_cast<size_t>(first_seen(static_cast<int64_t>(count)));
  ++clock_;
  std::vector<int32_t> global, sliding;
  for (size_t i = 0; i < chain.size(); ++i) {
    bool seen = layout_.sliding_layers > 0 && i >= first && i < count;
    touch(chain[i], /*important=*/true, seen);
    if (i >= count) continue;
    const Node& node = at(chain[i]);
    if (layout_.global_layers > 0) global.push_back(node.global);
    if (layout_.sliding_layers > 0) sliding.push_back(seen ? node.sliding : kNoPage);
  }
  pages->adopt(global, sliding);
  return {static_cast<int64_t>(count) * kPageTokens,
          static_cast<int64_t>(chain.size()) * kPageTokens};
}

void PrefixCache::keep(std::span<const int32_t> tokens, bool named, SequencePages* pages) {
  size_t count = tokens.size() / kPageTokens;
  auto first = static_cast<size_t>(first_seen(static_cast<int64_t>(count)));
  ++clock_;
  NodeId last = kNone;
  PageHash hash;
  for (size_t i = 0; i < count; ++i) {
    std::span<const int32_t> page = page_tokens(tokens, i);
    hash = hasher_(hash, page);
    int32_t global = layout_.global_layers > 0 ? pages->global()[i] : kNoPage;
    bool again = false;  // another text has held this page before
    NodeId id = kNone;
    if (auto it = index_.find(hash); it == index_.end()) {
      id = add(last, hash, page, global);
    } else {
      id = it->second;
      if (!matches(id, last, page)) break;  // two texts of one hash: the later one is not held
      if (global != at(id).global) {
        pages->replace_global(i, at(id).global);
        again = true;
      }
    }
    int32_t sliding = layout_.sliding_layers > 0 ? pages->sliding()[i] : kNoPage;
    bool seen = i >= first && sliding != kNoPage;
    if (seen && at(id).sliding == kNoPage) hold_sliding(id, sliding);
    touch(id, named || again, seen);
    last = id;
  }
  if (last != kNone) prune(last);
}

int64_t PrefixCache::first_seen(int64_t pages) const {
  if (layout_.sliding_layers == 0) return pages;
  return std::max<int64_t>(0, pages * kPageTokens - layout_.window + 1) / kPageTokens;
}

bool PrefixCache::matches(NodeId id, NodeId parent, std::span<const int32_t> tokens) const {
  const Node& node = at(id);
  return node.parent == parent && std::equal(tokens.begin(), tokens.end(), node.tokens.begin());
}

std::vector<PrefixCache::NodeId> PrefixCache::find(std::span<const int32_t> tokens,
                                                   size_t pages) const {
  std::vector<NodeId> chain;
  PageHash hash;
  for (size_t i = 0; i < pages; ++i) {
    std::span<const int32_t> page = page_tokens(tokens, i);
    hash = hasher_(hash, page);
    auto it = index_.find(hash);
    if (it == index_.end() || !matches(it->second, chain.empty() ? kNone : chain.back(), page)) {
      break;
    }
    chain.push_back(it->second);
  }
  return chain;
}

size_t PrefixCache::usable(const std::vector<NodeId>& chain) const {
  if (layout_.sliding_layers == 0) return chain.size();
  size_t best = 0, run = 0;  // run: nodes up to here that hold a page of the sliding pool
  for (size_t i = 0; i < chain.size(); ++i) {
    run = at(chain[i]).sliding == kNoPage ? 0 : run + 1;
    auto count = static_cast<int64_t>(i + 1);
    if (static_cast<int64_t>(run) >= count - first_seen(count)) best = i + 1;
  }
  return best;
}

PrefixCache::NodeId PrefixCache::add(NodeId parent, const PageHash& hash,
                                     std::span<const int32_t> tokens, int32_t global) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<NodeId>(nodes_.size()));
    nodes_.emplace_back();
  }
  NodeId id = unused_.back();
  unused_.pop_back();
  Node& node = at(id);
  node = {};
  node.parent = parent;
  node.hash = hash;
  std::copy(tokens.begin(), tokens.end(), node.tokens.begin());
  if (parent != kNone) {
    node.depth = at(parent).depth + 1;
    ++at(parent).children;
  }
  index_.emplace(hash, id);
  if (global != kNoPage) {
    node.global = global;
    global_pool_->cache(global);
    global_order_.insert(global_rank(id));
  }
  return id;
}

void PrefixCache::hold_sliding(NodeId id, int32_t page) {
  at(id).sliding = page;
  sliding_pool_->cache(page);
  sliding_order_.insert(sliding_rank(id));
}

void PrefixCache::touch(NodeId id, bool important, bool sliding) {
  Node& node = at(id);
  if (node.global != kNoPage) global_order_.erase(global_rank(id));
  if (node.sliding != kNoPage) sliding_order_.erase(sliding_rank(id));
  node.important |= important;
  node.used = clock_;
  if (sliding) node.sliding_used = clock_;
  if (node.global != kNoPage) global_order_.insert(global_rank(id));
  if (node.sliding != kNoPage) sliding_order_.insert(sliding_rank(id));
}

// A child goes before its parent.
PrefixCache::Rank PrefixCache::global_rank(NodeId id) const {
  const Node& node = at(id);
  return {node.important, node.used, -node.depth, id};
}

PrefixCache::Rank PrefixCache::sliding_rank(NodeId id) const {
  const Node& node = at(id);
  return {node.important, node.sliding_used, node.depth, id};
}

void PrefixCache::drop_sliding(NodeId id) {
  sliding_order_.erase(sliding_rank(id));
  sliding_pool_->uncache(at(id).sliding);
  at(id).sliding = kNoPage;
}

void PrefixCache::remove(NodeId id) {
  Node& node = at(id);
  assert(node.children == 0);
  if (node.sliding != kNoPage) drop_sliding(id);
  if (node.global != kNoPage) {
    global_order_.erase(global_rank(id));
    global_pool_->uncache(node.global);
    node.global = kNoPage;
  }
  if (node.parent != kNone) --at(node.parent).children;
  index_.erase(node.hash);
  unused_.push_back(id);
}

void PrefixCache::prune(NodeId id) {
  while (id != kNone) {
    const Node& node = at(id);
    if (node.children > 0 || node.global != kNoPage || node.sliding != kNoPage) return;
    NodeId parent = node.parent;
    remove(id);
    id = parent;
  }
}

void PrefixCache::evict_global() {
  for (const Rank& rank : global_order_) {
    auto id = std::get<NodeId>(rank);
    if (at(id).children > 0 || global_pool_->users(at(id).global) > 0) continue;
    remove(id);
    return;
  }
}

void PrefixCache::evict_sliding() {
  for (const Rank& rank : sliding_order_) {
    auto id = std::get<NodeId>(rank);
    if (sliding_pool_->users(at(id).sliding) > 0) continue;
    drop_sliding(id);
    prune(id);
    return;
  }
}

void PrefixCache::check_invariants() const {
  size_t global = 0, sliding = 0;
  std::vector<int64_t> children(nodes_.size(), 0);
  for (const auto& [hash, id] : index_) {
    const Node& node = at(id);
    assert(node.hash == hash);
    assert(node.global != kNoPage || node.sliding != kNoPage || node.children > 0);
    global += node.global != kNoPage;
    sliding += node.sliding != kNoPage;
    if (node.parent == kNone) continue;
    const Node& parent = at(node.parent);
    ++children[static_cast<size_t>(node.parent)];
    assert(node.depth == parent.depth + 1);
    assert(node.global == kNoPage || global_pool_->users(node.global) == 0 ||
           global_pool_->users(parent.global) > 0);
  }
  for (const auto& [hash, id] : index_)
    assert(at(id).children == children[static_cast<size_t>(id)]);
  assert(index_.size() + unused_.size() == nodes_.size());
  assert(global == global_order_.size() && sliding == sliding_order_.size());
  auto cached = [](const PagePool& pool) {
    size_t count = 0;
    for (int32_t page = 0; page < pool.size(); ++page) count += pool.cached(page);
    return count;
  };
  assert(global == cached(*global_pool_) && sliding == cached(*sliding_pool_));
  global_pool_->check_invariants();
  sliding_pool_->check_invariants();
}

}  // namespace nmc
