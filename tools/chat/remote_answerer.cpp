#include "tools/chat/remote_answerer.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace nmc {
namespace {

using Clock = std::chrono::steady_clock;

Json request_of(const std::string& model, const Json& messages, const AnswerSettings& settings) {
  Json body = {{"model", model},
               {"messages", messages},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  const auto set = [&](const char* field, const auto& value) {
    if (value) body[field] = *value;
  };
  set("temperature", settings.temperature);
  set("top_p", settings.top_p);
  set("min_p", settings.min_p);
  set("top_k", settings.top_k);
  set("seed", settings.seed);
  set("max_tokens", settings.max_tokens);
  if (settings.reasoning) body["reasoning_effort"] = *settings.reasoning ? "medium" : "none";
  return body;
}

// The text of a field; "" where there is none.
std::string text_in(const Json& object, const char* field) {
  auto it = object.find(field);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

int64_t count_in(const Json& object, const char* field) {
  auto it = object.find(field);
  return it != object.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

// Ends a request that waits for its next byte: nothing else would notice Ctrl-C.
class Watcher {
 public:
  Watcher(EventClient& client, const std::function<bool()>& stopped)
      : thread_([this, &client, &stopped] {
          while (!done_) {
            if (stopped()) return client.stop();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
          }
        }) {}
  ~Watcher() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class EventTaker {
 public:
  EventTaker(AnswerStats* stats, Clock::time_point start,
             const std::function<void(const AnswerPiece&)>& on_piece)
      : stats_(*stats), start_(start), on_piece_(on_piece) {}

  // False after an error of the server.
  bool take(const Json& event) {
    if (!event.is_object()) return true;
    if (auto error = event.find("error"); error != event.end() && error->is_object()) {
      failure_ = io_error(text_in(*error, "message"));
      return false;
    }
    if (auto usage = event.find("usage"); usage != event.end() && usage->is_object()) {
      stats_.prompt_tokens = count_in(*usage, "prompt_tokens");
      stats_.tokens = count_in(*usage, "completion_tokens");
      const Json details = usage->value("prompt_tokens_details", Json::object());
      if (details.is_object()) stats_.cached_tokens = count_in(details, "cached_tokens");
    }
    auto choices = event.find("choices");
    if (choices == event.end() || !choices->is_array() || choices->empty()) return true;
    const Json& choice = (*choices)[0];
    if (choice.is_object()) take_choice(choice);
    return true;
  }
  const Status& failure() const { return failure_; }

 private:
  void take_choice(const Json& choice) {
    if (text_in(choice, "finish_reason") == "length") stats_.cut = true;
    auto delta = choice.find("delta");
    if (delta == choice.end() || !delta->is_object()) return;
    std::string reasoning = text_in(*delta, "reasoning_content");
    if (reasoning.empty()) reasoning = text_in(*delta, "reasoning");
    say(std::move(reasoning), true);
    say(text_in(*delta, "content"), false);
  }
  void say(std::string text, bool reasoning) {
    if (text.empty()) return;
    if (!said_) {
      stats_.first_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
      said_ = true;
    }
    on_piece_({std::move(text), reasoning});
  }

  AnswerStats& stats_;
  const Clock::time_point start_;
  const std::function<void(const AnswerPiece&)>& on_piece_;
  bool said_ = false;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<Answerer>> RemoteAnswerer::open(const std::string& url,
                                                       const std::string& api_key) {
  NMC_ASSIGN(auto client, EventClient::create(url, api_key));
  NMC_ASSIGN(std::string model, client->first_model());
  return std::unique_ptr<Answerer>(new RemoteAnswerer(std::move(client), std::move(model)));
}

Result<AnswerStats> RemoteAnswerer::answer(const Json& messages, const AnswerSettings& settings,
                                           const std::function<void(const AnswerPiece&)>& on_piece,
                                           const std::function<bool()>& stopped) {
  AnswerStats stats;
  const auto start = Clock::now();
  EventTaker taker(&stats, start, on_piece);
  {
    Watcher watcher(*client_, stopped);
    NMC_TRY(client_->post("/v1/chat/completions", request_of(model_, messages, settings),
                          [&](const Json& event) { return taker.take(event) && !stopped(); }));
  }
  NMC_TRY(taker.failure());
  stats.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return stats;
}

}  // namespace nmc
