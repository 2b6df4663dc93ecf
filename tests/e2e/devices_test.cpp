// The real program on several devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/json.h"
#include "tests/e2e/server_process.h"
#include "tests/server/raw_client.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace nmc::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class DevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Process convert({NMC_BIN_DIR "/convert", NMC_SOURCE_DIR "/models/cohere2moe-nano", model()},
                    folder_ / "convert.log");
    ASSERT_EQ(convert.wait(seconds(15)), 0) << convert.output();
  }
  std::string model() const { return folder_ / "nano.nmc"; }

  TemporaryFolder folder_;
};

TEST_F(DevicesTest, ServeOnePortAndKeepASessionWhereItsPrefixIs) {
  Process server({NMC_BIN_DIR "/server", "-m", model(), "--port", "0", "-np", "2", "--device",
                  "reference,cpu,reference"},
                 folder_ / "server.log");
  const int port = wait_until_ready(server, seconds(30));
  ASSERT_GT(port, 0) << server.output();

  std::string prompt;
  for (int i = 0; i < 60; ++i) prompt += "word" + std::to_string(i) + " ";
  const auto cached = [&](const std::string& text, const std::string& session) -> int64_t {
    const Json body = {{"prompt", text}, {"max_tokens", 2}, {"temperature", 0}};
    const Reply reply = ask(port, "POST", "/v1/completions", body.dump(),
                            session.empty() ? "" : "x-session-id: " + session + "\r\n");
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body)["usage"]["prompt_tokens_details"]["cached_tokens"];
  };
  EXPECT_EQ(cached(prompt, "one"), 0);
  for (int i = 0; i < 4; ++i) cached(std::to_string(i) + " something else " + prompt, "");
  EXPECT_GT(cached(prompt + "and more", "one"), 0);
  EXPECT_GT(cached(prompt + "and still more", ""), 0);  // without a name, by its beginning

  const std::string metrics = ask(port, "GET", "/metrics", "").body;
  EXPECT_THAT(metrics, HasSubstr("nmc_slots 6\n"));
  for (const char* engine : {"0", "1", "2"}) {
    EXPECT_THAT(metrics, HasSubstr(std::string("nmc_engine_healthy{engine=\"") + engine + "\"} 1"));
  }
  EXPECT_EQ(Json::parse(ask(port, "GET", "/slots", "").body).size(), 6u);
  EXPECT_THAT(server.output(), HasSubstr("reference; cpu:"));
}

TEST_F(DevicesTest, AListMustNameDevices) {
  for (const char* list : {"cpu,", "cpu:1", "cpu,gpu", ",cpu", "cpu,0", "cpu:x"}) {
    const Finished run = run_program("server", {"-m", model(), "--port", "0", "--device", list});
    EXPECT_EQ(run.code, 1) << list;
    EXPECT_THAT(run.err, HasSubstr("device")) << list;
  }
}

}  // namespace
}  // namespace nmc::test
