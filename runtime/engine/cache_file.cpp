#include "runtime/engine/cache_file.h"

#include "runtime/cache/page_file.h"

namespace nmc {
namespace {

Result<PageFileOwner> owner_of(const Executor& executor, const CacheFile& file) {
  if (executor.page_format().empty()) {
    return unsupported("the device " + executor.name() + " cannot store its pages");
  }
  const KvLayout layout = make_kv_layout(executor.model());
  PageFileOwner owner;
  owner.identity = file.identity + "|" + executor.page_format();
  for (const KvLayout::Layer& layer : layout.layers) {
    owner.identity += "|" + std::to_string(layer.window);
  }
  owner.global_bytes = layout.global_layers > 0 ? executor.page_bytes(KvPool::kGlobal) : 0;
  owner.sliding_bytes = layout.sliding_layers > 0 ? executor.page_bytes(KvPool::kSliding) : 0;
  return owner;
}

}  // namespace

Status save_cache(const PrefixCache& cache, Executor& executor, const CacheFile& file) {
  NMC_ASSIGN(PageFileOwner owner, owner_of(executor, file));
  const PrefixCache::Contents all = cache.contents();
  std::vector<StoredPage> pages;
  uint64_t bytes = kPageFileHead;
  for (const StoredPage& page : all.pages) {  // parents come before their children
    bytes += kPageFileEntry + owner.bytes(page);
    if (bytes > file.max_bytes) break;
    pages.push_back(page);
  }
  if (pages.empty()) return {};
  return write_page_file(
      file.path, owner, pages, [&](size_t i, KvPool pool, std::span<uint8_t> to) {
        const auto& ids = pool == KvPool::kGlobal ? all.global_ids : all.sliding_ids;
        return executor.read_page(pool, ids[i], to);
      });
}

Result<int64_t> load_cache(PrefixCache* cache, Executor* executor, const CacheFile& file) {
  NMC_ASSIGN(PageFileOwner owner, owner_of(*executor, file));
  NMC_ASSIGN(PageFile stored, PageFile::open(file.path, owner));
  return cache->restore(stored.pages(), [&](size_t i, KvPool pool, int32_t page) {
    return executor->write_page(pool, page, stored.bytes(i, pool));
  });
}

}  // namespace nmc
