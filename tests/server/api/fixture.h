// A service over a scripted device and a tokenizer with one token for each byte.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/api/service.h"
#include "tests/server/api/scripted_executor.h"

namespace nmc::test {

// Collects a stream. `leave_after` pieces it is gone.
class MemoryClient : public http::StreamWriter {
 public:
  bool gone() override { return left; }
  bool write(std::string_view piece) override {
    if (left) return false;
    pieces.emplace_back(piece);
    if (pieces.size() >= leave_after) left = true;
    return true;
  }

  std::vector<std::string> pieces;
  size_t leave_after = SIZE_MAX;
  std::atomic<bool> left{false};
};

class ApiTest : public ::testing::Test {
 protected:
  struct Setup {
    int64_t context = 512, parallel = 2, max_queue = 4;
    std::chrono::milliseconds ping{10'000};
    bool load = true;
    api::Access access{};
  };

  ApiTest() : ApiTest(Setup{}) {}
  explicit ApiTest(const Setup& setup);

  // What the device says from now on: text in which markers are markers, then end of turn unless
  // `endless`.
  void say(const std::string& text, bool endless = false);

  using Headers = std::vector<std::pair<std::string, std::string>>;
  http::Response ask(const std::string& method, const std::string& path, const std::string& body,
                     const Headers& headers = {});
  http::Response post(const std::string& path, const Json& body) {
    return ask("POST", path, body.dump());
  }
  // The body of a 200 answer.
  Json answer(const std::string& path, const Json& body);
  // The error object of an answer with that status.
  Json refusal(const std::string& path, const Json& body, int status = 400);
  // The events of a 200 stream, which must end with [DONE].
  std::vector<Json> events(const std::string& path, Json body);

  // The events of a 200 stream of the newer APIs: each is named by its type.
  std::vector<Json> named_events(const std::string& path, Json body);

  EngineGroup& engine() { return *engine_; }

  std::shared_ptr<ScriptControl> device_ = std::make_shared<ScriptControl>();
  std::unique_ptr<api::ServedModel> unloaded_;
  std::unique_ptr<api::Service> service_;
  MemoryClient client_;

 private:
  const Tokenizer* tokenizer_ = nullptr;
  EngineGroup* engine_ = nullptr;
};

inline constexpr const char* kChat = "/v1/chat/completions";
inline constexpr const char* kCompletions = "/v1/completions";

// {"messages": [one user message]}, with the fields of `more`.
Json chat_body(const Json& more = Json::object());
Json weather_tool();
// A thought, and two calls of the tool.
extern const char* const kTwoCalls;

// What a stream of chat chunks amounts to, in the shape of a whole answer's choice.
Json assemble(const std::vector<Json>& chunks);

}  // namespace nmc::test
