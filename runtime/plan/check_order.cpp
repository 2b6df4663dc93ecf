#include <algorithm>
#include <map>

#include "runtime/plan/validate.h"

namespace nmc::plan {
namespace {

struct Use {
  uint32_t node, begin, end;

  bool overlaps(const Use& o) const { return begin < o.end && o.begin < end; }
};

// One version of a buffer: its writes and its reads.
struct Version {
  std::vector<Use> writes, reads;
};

class OrderCheck {
 public:
  OrderCheck(const ModelDescription& model, const Plan& plan, const StepGraph& graph)
      : model_(model), plan_(plan), graph_(graph) {}

  Status run() {
    collect();
    for (auto& [place, versions] : buffers_) {
      Version* earlier = nullptr;
      for (auto& [number, version] : versions) {
        // The step before the first has no writers: the host wrote what it reads.
        if (number > 0 && !version.reads.empty()) NMC_TRY(check_reads(place.first, &version));
        NMC_TRY(check_writes(place.first, &version));
        if (earlier != nullptr) NMC_TRY(check_reuse(place.first, *earlier, version));
        earlier = &version;
      }
    }
    return check_arrivals();
  }

 private:
  uint32_t tasks() const { return static_cast<uint32_t>(plan_.tasks.size()); }

  void collect() {
    for (uint32_t worker = 0; worker < plan_.sizes.workers; ++worker) {
      for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
        for (const Access& a : accesses_of(model_, plan_, worker, plan_.tasks[t])) {
          for (uint32_t step = 0; step < StepGraph::kSteps; ++step) {
            auto& versions = buffers_[{a.buffer, is_local(a.buffer) ? worker : kNone}];
            Version& version = versions[number(step, a.version)];
            (a.write ? version.writes : version.reads)
                .push_back({step * tasks() + t, a.begin, a.end});
          }
        }
      }
    }
  }

  // Versions in the order of time; 0 is what was there before the first step.
  uint32_t number(uint32_t step, uint32_t layer) const {
    const uint32_t per_step = plan_.sizes.layers + 1;
    return layer == kLastStep ? step * per_step : step * per_step + layer + 1;
  }

  Status check_reads(Buffer buffer, Version* version) {
    std::ranges::sort(version->writes, {}, &Use::begin);
    for (const Use& read : version->reads) {
      uint32_t covered = read.begin;
      for (const Use& write : version->writes) {
        if (!write.overlaps(read)) continue;
        if (write.begin <= covered) covered = std::max(covered, write.end);
        if (!graph_.before(write.node, read.node)) {
          return failure(buffer, read.node, "may read", write.node, "has written it");
        }
      }
      if (covered < read.end) {
        return corrupt(describe_task(plan_, read.node % tasks()) + " reads a part of the " +
                       to_string(buffer) + " that nobody writes");
      }
    }
    return {};
  }

  Status check_writes(Buffer buffer, Version* version) {
    std::ranges::sort(version->writes, {}, &Use::begin);
    for (size_t i = 1; i < version->writes.size(); ++i) {
      if (!version->writes[i].overlaps(version->writes[i - 1])) continue;
      return corrupt(describe_task(plan_, version->writes[i].node % tasks()) +
                     " writes a part of the " + to_string(buffer) +
                     " that another task writes too");
    }
    return {};
  }

  // The same memory holds both versions: everything about the earlier one comes first.
  Status check_reuse(Buffer buffer, const Version& earlier, const Version& later) {
    for (const Use& write : later.writes) {
      for (const std::vector<Use>* uses : {&earlier.reads, &earlier.writes}) {
        for (const Use& use : *uses) {
          if (!use.overlaps(write) || graph_.before(use.node, write.node)) continue;
          return failure(buffer, write.node, "may overwrite", use.node, "is done with it");
        }
      }
    }
    return {};
  }

  // A wait counts arrivals, so none of the next step may come before all of this one.
  Status check_arrivals() const {
    std::vector<std::vector<uint32_t>> arrivals(plan_.counters.size());
    for (uint32_t t = 0; t < tasks(); ++t) {
      if (plan_.tasks[t].signal != kNone) arrivals[plan_.tasks[t].signal].push_back(t);
    }
    for (size_t c = 0; c < arrivals.size(); ++c) {
      for (uint32_t now : arrivals[c]) {
        for (uint32_t next : arrivals[c]) {
          if (graph_.before(now, tasks() + next)) continue;
          return corrupt("the counter for the " + to_string(plan_.counters[c]) +
                         " may count an arrival of the next step: " + describe_task(plan_, next) +
                         " does not wait for " + describe_task(plan_, now));
        }
      }
    }
    return {};
  }

  Status failure(Buffer buffer, uint32_t who, const char* does, uint32_t other,
                 const char* until) const {
    return corrupt(describe_task(plan_, who % tasks()) + " " + does + " the " + to_string(buffer) +
                   " before " + describe_task(plan_, other % tasks()) + " " + until);
  }

  const ModelDescription& model_;
  const Plan& plan_;
  const StepGraph& graph_;
  // (buffer, worker that owns it) → version number → uses
  std::map<std::pair<Buffer, uint32_t>, std::map<uint32_t, Version>> buffers_;
};

}  // namespace

Status check_order(const ModelDescription& model, const Plan& plan, Agents agents) {
  NMC_ASSIGN(const StepGraph graph, StepGraph::build(model, plan, agents));
  return OrderCheck(model, plan, graph).run();
}

Status validate(const ModelDescription& model, const Plan& plan) {
  NMC_TRY(check_structure(model, plan));
  NMC_TRY(check_coverage(model, plan));
  NMC_TRY(check_order(model, plan, Agents::kOne));
  return check_order(model, plan, Agents::kComputeAndService);
}

}  // namespace nmc::plan
