#include "server/api/metrics.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace nmc::api {
namespace {

std::string number(double value) {
  return format("%.9g", value);
}

std::string head(const std::string& name, const char* type, const std::string& help) {
  return "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

std::string one(const std::string& name, const char* type, const std::string& help,
                uint64_t value) {
  return head(name, type, help) + name + " " + std::to_string(value) + "\n";
}

std::string pages(const std::string& name, const std::string& help, int64_t global,
                  int64_t sliding) {
  return head(name, "gauge", help) + name + "{layers=\"global\"} " + std::to_string(global) + "\n" +
         name + "{layers=\"sliding\"} " + std::to_string(sliding) + "\n";
}

// Of the pool that is fuller: the first one that is empty makes requests wait.
double kv_usage(const EngineStats& s) {
  const auto used = [](int64_t free, int64_t all) {
    return all > 0 ? 1 - static_cast<double>(free) / static_cast<double>(all) : 0;
  };
  return std::max(used(s.global_pages_free, s.global_pages),
                  used(s.sliding_pages_free, s.sliding_pages));
}

// Which of several engines does what; nothing when there is one.
std::string each_engine_text(const EngineGroup& engines) {
  const std::vector<EngineStats> each = engines.stats_of_each();
  if (each.size() == 1) return "";
  const auto lines = [&](const std::string& name, const std::string& help, auto value) {
    std::string text = head(name, "gauge", help);
    for (size_t i = 0; i < each.size(); ++i) {
      text +=
          name + "{engine=\"" + std::to_string(i) + "\"} " + std::to_string(value(each[i])) + "\n";
    }
    return text;
  };
  return lines("nmc_engine_requests_running", "Requests that hold a slot of this device.",
               [](const EngineStats& s) { return s.running; }) +
         lines("nmc_engine_requests_waiting", "Requests in the queue of this device.",
               [](const EngineStats& s) { return s.waiting; }) +
         lines("nmc_engine_healthy", "0 after a failure of this device.",
               [](const EngineStats& s) { return s.healthy ? 1 : 0; });
}

std::string engine_text(const EngineGroup& engine) {
  const EngineStats s = engine.stats();
  auto u = [](int64_t value) { return static_cast<uint64_t>(value); };
  return one("nmc_requests_running", "gauge", "Requests that hold a slot.", u(s.running)) +
         one("nmc_requests_waiting", "gauge", "Requests in the queue.", u(s.waiting)) +
         one("nmc_slots", "gauge", "Requests that can run at once.", engine.slots().size()) +
         pages("nmc_kv_pages_free", "Pages of 64 tokens that no running request uses.",
               s.global_pages_free, s.sliding_pages_free) +
         pages("nmc_kv_pages_cached", "Free pages that still hold a prefix to reuse.",
               s.global_pages_cached, s.sliding_pages_cached) +
         pages("nmc_kv_pages_total", "All pages.", s.global_pages, s.sliding_pages) +
         head("nmc_kv_usage_ratio", "gauge", "Pages that running requests use, of all: 0 to 1.") +
         "nmc_kv_usage_ratio " + number(kv_usage(s)) + "\n" +
         one("nmc_preemptions_total", "counter",
             "Running requests that were sent back to the queue.", s.preemptions) +
         one("nmc_prompt_tokens_total", "counter", "Prompt tokens that were read.",
             s.prompt_tokens) +
         one("nmc_cached_tokens_total", "counter", "Prompt tokens found in the prefix cache.",
             s.cached_tokens) +
         one("nmc_generated_tokens_total", "counter", "Tokens of answers.", s.generated_tokens) +
         one("nmc_healthy", "gauge", "0 when no device works any more.", s.healthy);
}

}  // namespace

void Histogram::observe(double seconds) {
  auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  counts_[static_cast<size_t>(bound - kBounds.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(seconds, std::memory_order_relaxed);
}

std::string Histogram::text(const std::string& name, const std::string& help) const {
  std::string text = head(name, "histogram", help);
  uint64_t total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    std::string bound = i < kBounds.size() ? number(kBounds[i]) : "+Inf";
    text += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(total) + "\n";
  }
  return text + name + "_sum " + number(sum_.load(std::memory_order_relaxed)) + "\n" + name +
         "_count " + std::to_string(total) + "\n";
}

void Metrics::count_response(int status) {
  std::lock_guard lock(mutex_);
  ++responses_[status];
}

std::string Metrics::text(const ServedModel& model) const {
  std::string text = engine_text(*model.engine) + each_engine_text(*model.engine);
  text += first_token.text("nmc_time_to_first_token_seconds",
                           "From a request's arrival to its first token.");
  text += inter_token.text("nmc_inter_token_seconds", "Between two tokens of one answer.");
  text += head("nmc_http_responses_total", "counter", "Answers by their HTTP status.");
  std::lock_guard lock(mutex_);
  for (auto [status, count] : responses_) {
    text += "nmc_http_responses_total{status=\"" + std::to_string(status) + "\"} " +
            std::to_string(count) + "\n";
  }
  return text;
}

}  // namespace nmc::api
