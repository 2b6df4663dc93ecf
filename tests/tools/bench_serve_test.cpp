// bench --serve: how it reads streams, what it counts, and a run on the real server.
#include "tools/bench/serve.h"

#include <gtest/gtest.h>

#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"
#include "tools/bench/stream_client.h"

namespace nmc::bench {
namespace {

using std::chrono::seconds;

TEST(BenchServe, CountsWhatTheEventsShow) {
  StreamedAnswer answer;
  for (const char* event : {R"({"choices":[{"delta":{"role":"assistant","content":""}}]})",
                            R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})",
                            R"({"choices":[{"delta":{"content":"a"}}]})",
                            R"({"choices":[{"text":"c","finish_reason":null}]})",
                            R"({"choices":[{"delta":{"tool_calls":[{"index":0}]}}]})",
                            R"({"choices":[{"delta":{},"finish_reason":"stop"}]})",
                            R"({"choices":[],"usage":{"completion_tokens":7}})"}) {
    EXPECT_TRUE(answer.take(Json::parse(event), {}).ok()) << event;
  }
  EXPECT_EQ(answer.pieces.size(), 4u);
  EXPECT_EQ(answer.tokens, 7);
}

TEST(BenchServe, ABrokenStreamIsAnError) {
  StreamedAnswer answer;
  const Json broken = Json::parse(R"({"error":{"message":"the device failed"}})");
  EXPECT_NE(answer.take(broken, {}).message().find("the device failed"), std::string::npos);
  EXPECT_FALSE(answer.take(Json::parse("3"), {}).ok());
}

TEST(BenchServe, PercentilesOfTimes) {
  std::vector<double> times;
  for (int i = 100; i >= 0; --i) times.push_back(i);
  Times t = times_of(times);
  EXPECT_EQ(t.p50, 50);
  EXPECT_EQ(t.p95, 95);
  EXPECT_EQ(t.worst, 100);
  EXPECT_EQ(times_of({}).worst, 0);
}

TEST(BenchServe, CountsWhatARealServerSays) {
  test::TemporaryFolder folder;
  const std::string model = folder.path() / "nano.nmc";
  test::Process convert({NMC_BIN_DIR "/convert", NMC_SOURCE_DIR "/models/cohere2moe-nano", model},
                        folder.path() / "convert.log");
  ASSERT_EQ(convert.wait(seconds(30)), 0) << convert.output();
  test::Process server({NMC_BIN_DIR "/server", "-m", model, "--port", "0", "-np", "4"},
                       folder.path() / "server.log");
  const int port = test::wait_until_ready(server, seconds(30));
  ASSERT_GT(port, 0) << server.output();

  for (bool chat : {true, false}) {
    ServeOptions options{.url = "http://127.0.0.1:" + std::to_string(port) + "/v1",
                         .chat = chat,
                         .clients = {1, 6},
                         .requests = 2,
                         .prompt_words = 20,
                         .max_tokens = 12};
    std::vector<ServeLevel> levels;
    Status status = run_serve(
        options, [] { return false; }, [&](const ServeLevel& l) { levels.push_back(l); });
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(levels.size(), 2u);
    for (const ServeLevel& l : levels) {
      EXPECT_EQ(l.answers, 2 * l.clients) << l.first_failure;
      EXPECT_EQ(l.tokens, 12 * l.answers);
      EXPECT_GT(l.first_token.p50, 0);
      EXPECT_GT(l.gap.worst, 0);
      EXPECT_LE(l.gap.worst, 1000 * l.seconds);
    }
    EXPECT_NE(serve_row(levels[1]).find("| 6 | 12 | 0 | 0 |"), std::string::npos);
    EXPECT_NE(serve_json(levels[1]).find("\"tokens\":144"), std::string::npos);
  }

  ServeOptions nobody{.url = "http://127.0.0.1:1/v1"};
  EXPECT_EQ(run_serve(
                nobody, [] { return false; }, [](const ServeLevel&) {})
                .code(),
            StatusCode::kIo);
}

}  // namespace
}  // namespace nmc::bench
