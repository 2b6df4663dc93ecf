#include "runtime/engine/engine_group.h"

#include <algorithm>
#include <cassert>

namespace nmc {
namespace {

size_t pages_of(const std::vector<std::unique_ptr<Engine>>& engines) {
  int64_t pages = 0;
  for (const auto& engine : engines) pages += engine->stats().global_pages;
  return static_cast<size_t>(std::max<int64_t>(pages, 1));
}

bool another_may_take_it(const Status& status) {
  return status.code() == StatusCode::kExhausted || status.code() == StatusCode::kInternal;
}

}  // namespace

EngineGroup::EngineGroup(std::vector<std::unique_ptr<Engine>> engines)
    : engines_(std::move(engines)), choice_(pages_of(engines_)) {
  assert(!engines_.empty());
}

std::vector<EngineLoad> EngineGroup::loads() const {
  std::vector<EngineLoad> loads;
  for (const auto& engine : engines_) {
    const EngineStats stats = engine->stats();
    loads.push_back({.requests = stats.running + stats.waiting,
                     .slots = static_cast<int64_t>(engine->slots().size()),
                     .healthy = stats.healthy});
  }
  return loads;
}

Result<std::vector<std::shared_ptr<Generation>>> EngineGroup::submit(
    const GenerationRequest& request, int64_t n) {
  if (engines_.size() == 1) return engines_.front()->submit(request, n);
  std::vector<EngineLoad> open = loads();
  Status refusal;
  while (const auto chosen = choice_.choose(request.session, request.prompt, open)) {
    auto generations = engines_[*chosen]->submit(request, n);
    if (generations.ok() || !another_may_take_it(generations.status())) return generations;
    if (refusal.ok()) refusal = generations.status();
    open[*chosen].healthy = false;  // for this request
  }
  return refusal.ok() ? internal_error("every device failed; restart the server") : refusal;
}

EngineStats EngineGroup::stats() const {
  EngineStats sum;
  sum.healthy = false;
  for (const EngineStats& s : stats_of_each()) {
    sum.running += s.running;
    sum.waiting += s.waiting;
    sum.global_pages_free += s.global_pages_free;
    sum.global_pages_cached += s.global_pages_cached;
    sum.global_pages += s.global_pages;
    sum.sliding_pages_free += s.sliding_pages_free;
    sum.sliding_pages_cached += s.sliding_pages_cached;
    sum.sliding_pages += s.sliding_pages;
    sum.prompt_tokens += s.prompt_tokens;
    sum.cached_tokens += s.cached_tokens;
    sum.generated_tokens += s.generated_tokens;
    sum.preemptions += s.preemptions;
    sum.recomputed_tokens += s.recomputed_tokens;
    sum.healthy |= s.healthy;
  }
  return sum;
}

std::vector<EngineStats> EngineGroup::stats_of_each() const {
  std::vector<EngineStats> stats;
  for (const auto& engine : engines_) stats.push_back(engine->stats());
  return stats;
}

std::vector<std::optional<Generation::Progress>> EngineGroup::slots() const {
  std::vector<std::optional<Generation::Progress>> all;
  for (const auto& engine : engines_) {
    for (auto& slot : engine->slots()) all.push_back(slot);
  }
  return all;
}

}  // namespace nmc
