// What a prefix cache holds, as a list, and back.
#include <algorithm>
#include <cassert>

#include "runtime/cache/prefix_cache.h"

namespace nmc {

PrefixCache::Contents PrefixCache::contents() const {
  std::vector<NodeId> order;
  for (const auto& [hash, id] : index_) order.push_back(id);
  auto worth = [&](NodeId id) {
    const Node& n = at(id);
    return std::tuple(!n.important, ~n.used, n.depth, id);
  };
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return worth(a) < worth(b); });

  Contents out;
  std::vector<int64_t> place(nodes_.size(), -1);
  std::vector<NodeId> path;
  for (NodeId id : order) {
    path.clear();
    for (NodeId n = id; n != kNone && place[static_cast<size_t>(n)] < 0; n = at(n).parent) {
      path.push_back(n);
    }
    for (auto n = path.rbegin(); n != path.rend(); ++n) {
      const Node& node = at(*n);
      place[static_cast<size_t>(*n)] = static_cast<int64_t>(out.pages.size());
      out.pages.push_back(
          {.parent = node.parent == kNone ? -1 : place[static_cast<size_t>(node.parent)],
           .used = node.used,
           .sliding_used = node.sliding_used,
           .important = node.important,
           .global = node.global != kNoPage,
           .sliding = node.sliding != kNoPage,
           .tokens = node.tokens});
      out.global_ids.push_back(node.global);
      out.sliding_ids.push_back(node.sliding);
    }
  }
  return out;
}

Result<int32_t> PrefixCache::take_filled(size_t index, KvPool pool, const PageWriter& write) {
  PagePool* pages = pool == KvPool::kGlobal ? global_pool_ : sliding_pool_;
  if (pages->free_pages() == pages->idle_pages()) return kNoPage;  // no empty one
  int32_t page = pages->take();
  Status status = write(index, pool, page);
  if (status.ok()) return page;
  pages->give_back(page);
  return status;
}

Result<int64_t> PrefixCache::restore(const std::vector<StoredPage>& pages,
                                     const PageWriter& write) {
  assert(index_.empty());
  std::vector<NodeId> ids;  // kNone: left out, and so are those behind it
  for (size_t i = 0; i < pages.size(); ++i) {
    const StoredPage& p = pages[i];
    ids.push_back(kNone);
    NodeId parent = p.parent < 0 ? kNone : ids[static_cast<size_t>(p.parent)];
    if (p.parent >= 0 && parent == kNone) continue;
    // Every node of a model with global layers has a page there.
    if (p.global != (layout_.global_layers > 0)) continue;
    PageHash hash = hasher_(parent == kNone ? PageHash{} : at(parent).hash, p.tokens);
    if (index_.contains(hash)) continue;
    int32_t global = kNoPage;
    if (p.global) {
      NMC_ASSIGN(global, take_filled(i, KvPool::kGlobal, write));
      if (global == kNoPage) continue;
    }
    NodeId id = ids.back() = add(parent, hash, p.tokens, global);
    if (global != kNoPage) global_pool_->give_back(global);
    if (p.sliding && layout_.sliding_layers > 0) {
      NMC_ASSIGN(int32_t sliding, take_filled(i, KvPool::kSliding, write));
      if (sliding != kNoPage) {
        hold_sliding(id, sliding);
        sliding_pool_->give_back(sliding);
      }
    }
    clock_ = p.sliding_used;
    touch(id, p.important, /*sliding=*/true);
    clock_ = p.used;
    touch(id, p.important, /*sliding=*/false);
  }
  for (const StoredPage& p : pages) clock_ = std::max({clock_, p.used, p.sliding_used});
  // A model without global layers: texts whose sliding pages found no room.
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    if (*id == kNone) continue;
    auto it = index_.find(at(*id).hash);
    if (it != index_.end() && it->second == *id) prune(*id);
  }
  return static_cast<int64_t>(index_.size()) * kPageTokens;
}

}  // namespace nmc
