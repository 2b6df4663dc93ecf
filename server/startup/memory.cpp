#include "server/startup/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "runtime/base/text.h"
#include "runtime/cache/kv_layout.h"

namespace nmc::startup {
namespace {

constexpr int64_t kLeastContext = 512;

// MemAvailable of /proc/meminfo, or half of all memory where the kernel does not tell.
uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  uint64_t value = 0;
  while (file >> key >> value) {
    if (key == "MemAvailable:") return value << 10;
    file.ignore(100, '\n');
  }
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

// What a container's limit leaves, or no limit.
uint64_t container_memory() {
  auto read = [](const char* path, uint64_t* value) {
    std::ifstream file(path);
    return static_cast<bool>(file >> *value);  // "max" is no number
  };
  uint64_t limit = 0, used = 0;
  if (!read("/sys/fs/cgroup/memory.max", &limit)) return UINT64_MAX;
  if (!read("/sys/fs/cgroup/memory.current", &used)) return limit;
  return limit - std::min(limit, used);
}

}  // namespace

uint64_t kv_bytes(const ModelDescription& model, const KvCapacity& capacity, int value_bytes) {
  KvLayout layout = make_kv_layout(model);
  auto layer_pages = static_cast<uint64_t>(capacity.global_pages * layout.global_layers +
                                           capacity.sliding_pages * layout.sliding_layers);
  return layer_pages * static_cast<uint64_t>(layout.layer_page_values()) *
         static_cast<uint64_t>(value_bytes);
}

Result<MemoryPlan> plan_memory(const ModelDescription& model, const EngineOptions& wanted,
                               uint64_t budget, int value_bytes) {
  MemoryPlan plan{.options = wanted, .capacity = {}, .kv_bytes = 0, .note = ""};
  EngineOptions& o = plan.options;
  if (o.context == 0) o.context = model.max_context;
  auto pages = [&](int64_t parallel) {
    EngineOptions some = o;
    some.parallel = parallel;
    return kv_capacity_for(model, some);
  };
  auto bytes = [&](const KvCapacity& c) { return kv_bytes(model, c, value_bytes); };
  const int64_t full = o.context;
  if (bytes(pages(1)) > budget) {
    // The longest context that fits, in whole pages.
    int64_t low = 0, high = full / kPageTokens;
    while (low < high) {
      int64_t middle = (low + high + 1) / 2;
      o.context = middle * kPageTokens;
      if (bytes(pages(1)) <= budget) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    o.context = low * kPageTokens;
    if (o.context < std::min(full, kLeastContext)) {
      return exhausted("the " + human_bytes(static_cast<double>(budget)) +
                       " of memory for keys and values hold no useful context; free some memory");
    }
  }
  const KvCapacity one = pages(1), all = pages(o.parallel);
  plan.capacity = all;
  if (bytes(all) > budget) {
    // Of what lies between one conversation and all of them, the same share of both pools.
    const double share =
        static_cast<double>(budget - bytes(one)) / static_cast<double>(bytes(all) - bytes(one));
    auto part = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(share * static_cast<double>(high - low));
    };
    plan.capacity = {part(one.global_pages, all.global_pages),
                     part(one.sliding_pages, all.sliding_pages)};
  }
  plan.kv_bytes = bytes(plan.capacity);
  if (plan.kv_bytes < bytes(all) || o.context < full) {
    plan.note = "memory for keys and values is limited to " +
                human_bytes(static_cast<double>(budget)) + ": a context of " +
                std::to_string(o.context) + " of " + std::to_string(full) + " tokens, and " +
                std::to_string(100 * plan.kv_bytes / bytes(all)) + " % of what " +
                std::to_string(o.parallel) +
                " requests of that length need. When they grow together, the youngest wait.";
  }
  return plan;
}

uint64_t memory_budget(uint64_t weight_bytes) {
  uint64_t available = std::min(available_memory(), container_memory());
  // The weights are mapped: their pages count as available and are needed all the same.
  uint64_t rest = available - std::min(available, weight_bytes);
  return std::max(rest / 2, available / 8);
}

}  // namespace nmc::startup
