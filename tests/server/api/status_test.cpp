// What operators and gateways ask.
#include <thread>

#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

class StatusTest : public ApiTest {
 protected:
  // The value of a metric, by its name and labels.
  double metric(const std::string& name) {
    http::Response response = ask("GET", "/metrics", "");
    EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
    size_t at = response.body.find("\n" + name + " ");
    if (at == std::string::npos) {
      ADD_FAILURE() << name << " is not among\n" << response.body;
      return -1;
    }
    return std::stod(response.body.substr(at + name.size() + 2));
  }
};

TEST_F(StatusTest, MetricsCountWhatHappened) {
  say("<|END_THINKING|><|START_TEXT|>ok<|END_TEXT|>");
  EXPECT_EQ(metric("nmc_requests_running"), 0);
  EXPECT_EQ(metric("nmc_generated_tokens_total"), 0);
  Json usage = answer(kChat, chat_body())["usage"];
  refusal(kChat, {{"messages", 1}});
  EXPECT_EQ(metric("nmc_prompt_tokens_total"), usage["prompt_tokens"].get<double>());
  EXPECT_EQ(metric("nmc_generated_tokens_total"), 5);
  EXPECT_EQ(metric("nmc_time_to_first_token_seconds_count"), 1);
  EXPECT_EQ(metric("nmc_inter_token_seconds_count"), 4);
  EXPECT_EQ(metric("nmc_inter_token_seconds_bucket{le=\"+Inf\"}"), 4);
  EXPECT_GT(metric("nmc_time_to_first_token_seconds_sum"), 0);
  EXPECT_EQ(metric("nmc_http_responses_total{status=\"400\"}"), 1);
  EXPECT_EQ(metric("nmc_kv_pages_free{layers=\"global\"}"),
            metric("nmc_kv_pages_total{layers=\"global\"}"));
  EXPECT_EQ(metric("nmc_kv_usage_ratio"), 0);
  EXPECT_EQ(metric("nmc_slots"), 2);
  EXPECT_EQ(metric("nmc_preemptions_total"), 0);
  EXPECT_EQ(metric("nmc_healthy"), 1);
}

TEST_F(StatusTest, SlotsShowWhatRuns) {
  Json idle = Json::parse(ask("GET", "/slots", "").body);
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_EQ(idle[0]["is_processing"], false);
  EXPECT_EQ(idle[0]["state"], "idle");
  say("y", /*endless=*/true);
  device_->step_ms = 5;
  http::Response running = post(kChat, chat_body({{"stream", true}}));
  Json slots;
  for (int i = 0; i < 200; ++i) {
    slots = Json::parse(ask("GET", "/slots", "").body);
    if (slots[0]["n_decoded"] > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(slots[0]["is_processing"], true);
  EXPECT_EQ(slots[0]["state"], "decode");
  EXPECT_EQ(slots[0]["n_prompt_tokens_processed"], slots[0]["n_prompt_tokens"]);
  EXPECT_EQ(slots[1]["is_processing"], false);
  EXPECT_EQ(metric("nmc_requests_running"), 1);
  EXPECT_GT(metric("nmc_kv_usage_ratio"), 0);
  EXPECT_LE(metric("nmc_kv_usage_ratio"), 1);
}

TEST_F(StatusTest, PropsSayWhatIsServed) {
  Json props = Json::parse(ask("GET", "/props", "").body);
  EXPECT_EQ(props["model_alias"], "tiny");
  EXPECT_EQ(props["n_ctx"], 512);
  EXPECT_EQ(props["total_slots"], 2);
  EXPECT_EQ(props["dialect"], "cmd4");
  EXPECT_EQ(props["bos_token"], "<BOS_TOKEN>");
  EXPECT_NE(props["chat_template"].get<std::string>().find("<|START_ACTION|>"), std::string::npos);
  EXPECT_EQ(props["default_generation_settings"]["params"]["top_p"], 0.95);
}

TEST_F(StatusTest, EmbeddingsAreRefusedClearly) {
  Json error = refusal("/v1/embeddings", {{"input", "x"}}, 501);
  EXPECT_NE(error["message"].get<std::string>().find("embedding"), std::string::npos);
}

}  // namespace
}  // namespace nmc::test
