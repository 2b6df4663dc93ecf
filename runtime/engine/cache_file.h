// The prefix cache across restarts.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/cache/prefix_cache.h"
#include "runtime/engine/executor.h"

namespace nmc {

struct CacheFile {
  std::filesystem::path path;
  std::string identity;    // of model and template; layout and arithmetic are added here
  uint64_t max_bytes = 0;  // the file is never larger
};

// Writes what the cache holds, the most useful first, as far as `max_bytes` allow. An empty cache
// leaves the file alone.
Status save_cache(const PrefixCache& cache, Executor& executor, const CacheFile& file);

// Fills an empty cache with the pages of the file, the most useful first, as far as the pools
// allow; returns how many tokens are held. A file that is missing, foreign or damaged changes
// nothing and is an error like any other; kInternal is the device's.
Result<int64_t> load_cache(PrefixCache* cache, Executor* executor, const CacheFile& file);

}  // namespace nmc
