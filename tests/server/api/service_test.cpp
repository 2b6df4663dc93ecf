// The life of the server: loading, full, left by clients, broken, ending.
#include <thread>

#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

using std::chrono::milliseconds;

class ServiceTest : public ApiTest {
 protected:
  ServiceTest() : ServiceTest(Setup{.parallel = 1, .ping = milliseconds(60)}) {}
  explicit ServiceTest(const Setup& setup) : ApiTest(setup) {}

  // Waits until nothing runs and nothing waits.
  bool becomes_idle() {
    for (int i = 0; i < 200; ++i) {
      EngineStats stats = engine().stats();
      if (stats.running + stats.waiting == 0 && stats.global_pages_free == stats.global_pages) {
        return true;
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
};

TEST_F(ServiceTest, RoutesAndMethods) {
  EXPECT_EQ(ask("GET", "/health", "").status, 200);
  EXPECT_EQ(ask("GET", "/nothing", "").status, 404);
  EXPECT_EQ(ask("GET", "/v1/completions", "").status, 405);
  EXPECT_EQ(ask("POST", "/v1/models", "").status, 405);
  EXPECT_EQ(ask("GET", "/v1/modelsx", "").status, 404);
  Json list = Json::parse(ask("GET", "/v1/models", "").body);
  EXPECT_EQ(list["data"][0]["id"], "tiny");
  EXPECT_EQ(list["data"][0]["max_model_len"], 512);
  EXPECT_EQ(list["data"][0]["meta"]["n_ctx"], 512);
  EXPECT_EQ(Json::parse(ask("GET", "/v1/models/tiny", "").body)["id"], "tiny");
  http::Response missing = ask("GET", "/v1/models/other", "");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(Json::parse(missing.body)["error"]["code"], "model_not_found");
}

TEST_F(ServiceTest, AFullQueueIsAnswered429) {
  say("y", /*endless=*/true);
  device_->step_ms = 20;
  std::vector<http::Response> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(post(kChat, chat_body({{"stream", true}})));
    std::this_thread::sleep_for(milliseconds(30));
  }
  EXPECT_EQ(waiting.front().status, 200);
  EXPECT_EQ(waiting.back().status, 429);
  EXPECT_EQ(waiting.back().headers.front().first, "Retry-After");
  EXPECT_EQ(ask("GET", "/health", "").status, 200);
  waiting.clear();  // answers that are given up free what they hold
  EXPECT_TRUE(becomes_idle());
}

TEST_F(ServiceTest, AClientThatLeavesFreesItsSlot) {
  say("y", /*endless=*/true);
  device_->step_ms = 2;
  http::Response response = post(kChat, chat_body({{"stream", true}}));
  MemoryClient leaving;
  leaving.leave_after = 5;
  response.stream(leaving);
  EXPECT_TRUE(becomes_idle());

  std::thread leave([&] {
    std::this_thread::sleep_for(milliseconds(100));
    client_.left = true;
  });
  ask("POST", kChat, chat_body().dump());  // not streamed
  leave.join();
  EXPECT_TRUE(becomes_idle());
}

TEST_F(ServiceTest, ASilentStreamPings) {
  say("<|END_THINKING|><|START_TEXT|>ok");
  device_->step_ms = 250;
  http::Response response = post(kChat, chat_body({{"stream", true}}));
  MemoryClient client;
  response.stream(client);
  ASSERT_GT(client.pieces.size(), 3u);
  EXPECT_NE(client.pieces[0].find("assistant"), std::string::npos);
  EXPECT_TRUE(client.pieces[1].starts_with(": "));
}

TEST_F(ServiceTest, ADeviceFailureIsTold) {
  say("yes", /*endless=*/true);
  device_->step_ms = 10;
  http::Response response = post(kChat, chat_body({{"stream", true}}));
  std::thread pull([&] {
    std::this_thread::sleep_for(milliseconds(100));
    device_->fail = true;
  });
  MemoryClient client;
  response.stream(client);
  pull.join();
  ASSERT_GT(client.pieces.size(), 2u);
  Json event = Json::parse(client.pieces[client.pieces.size() - 2].substr(6));
  EXPECT_EQ(event["error"]["type"], "server_error");
  EXPECT_EQ(client.pieces.back(), "data: [DONE]\n\n");
  EXPECT_EQ(ask("GET", "/health", "").status, 503);
  EXPECT_EQ(ask("POST", kChat, chat_body().dump()).status, 503);
}

TEST_F(ServiceTest, ADeviceFailureIs500WhenNothingWasSent) {
  say("x");
  device_->fail = true;
  EXPECT_EQ(refusal(kChat, chat_body(), 500)["type"], "server_error");
}

TEST_F(ServiceTest, CuttingEndsStreamsProperly) {
  say("y", /*endless=*/true);
  device_->step_ms = 2;
  std::thread stop([&] {
    std::this_thread::sleep_for(milliseconds(100));
    service_->drain();
    EXPECT_EQ(ask("POST", kChat, chat_body().dump()).status, 503);
    service_->cut();
  });
  auto chunks = events(kChat, chat_body());
  stop.join();
  EXPECT_EQ(chunks.back()["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(service_->active(), 0);
  EXPECT_EQ(ask("GET", "/health", "").status, 503);
}

class LoadingTest : public ServiceTest {
 protected:
  LoadingTest() : ServiceTest(Setup{.load = false}) {}
};

TEST_F(LoadingTest, EverythingWaitsForTheModel) {
  say("x");
  http::Response health = ask("GET", "/health", "");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.body, "{\"status\":\"loading\"}");
  for (const char* path : {kChat, kCompletions, "/tokenize"}) {
    EXPECT_EQ(refusal(path, chat_body(), 503)["code"], "loading");
  }
  EXPECT_EQ(ask("GET", "/v1/models", "").status, 503);
  EXPECT_EQ(ask("GET", "/nothing", "").status, 404);
  service_->serve(std::move(unloaded_));
  EXPECT_EQ(ask("GET", "/health", "").status, 200);
  answer(kChat, chat_body());
}

}  // namespace
}  // namespace nmc::test
