#include "tools/bench/serve.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "tools/bench/stream_client.h"
#include "tools/http/event_client.h"

namespace nmc::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{120};

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// A text that no other request begins with, so that no cache answers for the server.
std::string prompt(int64_t number, int64_t words) {
  static constexpr const char* kWords[] = {"river", "stone", "seven",  "light", "under", "open",
                                           "paper", "north", "engine", "slow",  "green", "word"};
  std::string text = std::to_string(number) + ".";
  for (int64_t i = 0; i < words; ++i) {
    text += std::string(" ") + kWords[(i * i + number * (i + 3)) % 12];
  }
  return text;
}

class Level {
 public:
  Level(const ServeOptions& options, int64_t clients, int64_t number,
        const std::function<bool()>& stop)
      : options_(options), next_(number), stop_(stop) {
    level_.clients = clients;
  }

  ServeLevel run() {
    const auto begin = Clock::now();
    deadline_ = begin + std::chrono::seconds(options_.seconds);
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < level_.clients; ++i) threads.emplace_back([this] { client(); });
    for (std::thread& t : threads) t.join();
    level_.seconds = milliseconds(Clock::now() - begin) / 1000;
    level_.first_token = times_of(std::move(first_));
    level_.gap = times_of(std::move(gaps_));
    return level_;
  }

 private:
  void client() {
    for (int64_t i = 0; i < options_.requests && Clock::now() < deadline_ && !stop_(); ++i) {
      add(stream_answer(options_.url, options_.chat ? "/v1/chat/completions" : "/v1/completions",
                        body(next_++), kPatience));
    }
  }

  Json body(int64_t number) const {
    Json body = {
        {"model", options_.model}, {"max_tokens", options_.max_tokens},          {"seed", number},
        {"ignore_eos", true},  // where a server knows it: answers of one length
        {"stream", true},          {"stream_options", {{"include_usage", true}}}};
    const std::string text = prompt(number, options_.prompt_words);
    if (options_.chat) {
      body["messages"] = Json::array({{{"role", "user"}, {"content", text}}});
    } else {
      body["prompt"] = text;
    }
    return body;
  }

  void add(const Result<StreamedAnswer>& answer) {
    std::lock_guard lock(mutex_);
    if (!answer.ok()) {
      ++(answer.status().code() == StatusCode::kExhausted ? level_.refused : level_.failed);
      if (level_.first_failure.empty()) level_.first_failure = answer.status().message();
      return;
    }
    ++level_.answers;
    level_.tokens += answer->tokens;
    const auto& pieces = answer->pieces;
    if (!pieces.empty()) first_.push_back(milliseconds(pieces[0] - answer->sent));
    for (size_t i = 1; i < pieces.size(); ++i) {
      gaps_.push_back(milliseconds(pieces[i] - pieces[i - 1]));
    }
  }

  const ServeOptions& options_;
  std::atomic<int64_t> next_;  // number of a request
  const std::function<bool()>& stop_;
  Clock::time_point deadline_;
  std::mutex mutex_;
  // Guarded by mutex_.
  ServeLevel level_;
  std::vector<double> first_, gaps_;
};

}  // namespace

Times times_of(std::vector<double> t) {
  if (t.empty()) return {};
  std::sort(t.begin(), t.end());
  auto at = [&](double part) {
    return t[static_cast<size_t>(part * static_cast<double>(t.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.95), t.back()};
}

Status run_serve(const ServeOptions& options, const std::function<bool()>& stop,
                 const std::function<void(const ServeLevel&)>& report) {
  NMC_ASSIGN(const auto client, EventClient::create(options.url, "", kPatience));
  ServeOptions named = options;
  if (named.model.empty()) {
    NMC_ASSIGN(named.model, client->first_model());
  }
  // Servers keep what they read: a second run must not find the first one's prompts.
  int64_t number = std::chrono::system_clock::now().time_since_epoch().count() / 1000;
  for (int64_t clients : options.clients) {
    if (stop()) return cancelled("interrupted");
    ServeLevel level = Level(named, clients, number, stop).run();
    number += clients * options.requests;
    report(level);
    if (level.answers == 0 && !stop()) {
      return io_error("no request was answered: " + level.first_failure);
    }
  }
  return {};
}

}  // namespace nmc::bench
