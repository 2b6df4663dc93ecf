// Anthropic's API over the same answers.
#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

constexpr const char* kMessages = "/v1/messages";

Json message_body(const Json& more = Json::object()) {
  Json body = chat_body({{"max_tokens", 400}});
  body.update(more);
  return body;
}

class MessagesTest : public ApiTest {
 protected:
  MessagesTest() : ApiTest(Setup{.context = 2048}) {}

  // The whole answer, after checking that the stream tells the same.
  Json both(const Json& body) {
    Json whole = answer(kMessages, body);
    Json content = Json::array(), reason, usage;
    std::string partial;
    for (const Json& event : named_events(kMessages, body)) {
      const std::string type = event["type"];
      if (type == "message_start") {
        EXPECT_EQ(event["message"]["role"], "assistant");
      }
      if (type == "content_block_start") content.push_back(event["content_block"]);
      if (type == "content_block_delta") {
        EXPECT_EQ(event["index"], content.size() - 1);
        for (const char* key : {"text", "thinking"}) {
          if (!event["delta"].contains(key)) continue;
          content.back()[key] =
              content.back()[key].get<std::string>() + event["delta"][key].get<std::string>();
        }
        partial += event["delta"].value("partial_json", "");
      }
      if (type == "content_block_stop" && content.back()["type"] == "tool_use") {
        content.back()["input"] = Json::parse(partial, nullptr, false);
        partial.clear();
      }
      if (type == "message_delta") {
        reason = event["delta"]["stop_reason"];
        usage = event["usage"];
      }
    }
    EXPECT_EQ(reason, whole["stop_reason"]);
    EXPECT_EQ(usage["output_tokens"], whole["usage"]["output_tokens"]);
    EXPECT_EQ(content.size(), whole["content"].size());
    for (size_t i = 0; i < content.size(); ++i) {
      content[i].erase("id");
      Json other = whole["content"][i];
      other.erase("id");
      if (!content[i].value("input", Json()).is_discarded()) {
        EXPECT_EQ(content[i], other);
      }
    }
    return whole;
  }

  int64_t count(const Json& body) {
    return answer("/v1/messages/count_tokens", body)["input_tokens"];
  }
};

const Json kWeather = {{"name", "weather"}, {"input_schema", {{"type", "object"}}}};

TEST_F(MessagesTest, TextWithoutThinkingUnlessAsked) {
  say("<|START_TEXT|>Hello!<|END_TEXT|>");
  Json whole = both(message_body());
  EXPECT_EQ(whole["type"], "message");
  EXPECT_EQ(whole["stop_reason"], "end_turn");
  EXPECT_EQ(whole["content"], Json::array({{{"type", "text"}, {"text", "Hello!"}}}));
  EXPECT_EQ(whole["usage"]["output_tokens"], 9);
}

TEST_F(MessagesTest, ThinkingAndItsBudget) {
  say("abcdef<|END_THINKING|><|START_TEXT|>ok<|END_TEXT|>");
  Json whole = both(message_body({{"thinking", {{"type", "enabled"}, {"budget_tokens", 100}}}}));
  ASSERT_EQ(whole["content"].size(), 2u);
  EXPECT_EQ(whole["content"][0]["thinking"], "abcdef");
  EXPECT_EQ(whole["content"][1]["text"], "ok");
  whole = both(
      message_body({{"max_tokens", 8}, {"thinking", {{"type", "enabled"}, {"budget_tokens", 2}}}}));
  EXPECT_EQ(whole["content"][0]["thinking"], "ab");
}

TEST_F(MessagesTest, CallsAndTheirResults) {
  say(kTwoCalls);
  Json tools = {kWeather, {{"type", "web_search_20250305"}, {"name", "web_search"}}};
  Json thinking = {{"type", "adaptive"}};
  Json first = both(message_body({{"tools", tools}, {"thinking", thinking}}));
  EXPECT_EQ(first["stop_reason"], "tool_use");
  ASSERT_EQ(first["content"].size(), 3u);
  EXPECT_EQ(first["content"][1]["input"]["city"], "Bonn");
  EXPECT_EQ(first["content"][2]["input"], Json::object());

  Json results = Json::array();
  for (size_t i : {1, 2}) {
    results.push_back({{"type", "tool_result"},
                       {"tool_use_id", first["content"][i]["id"]},
                       {"content", Json::array({{{"type", "text"}, {"text", "warm"}}})}});
  }
  results.push_back({{"type", "text"}, {"text", "Go on."}});
  Json history = message_body({{"tools", tools}})["messages"];
  history.push_back({{"role", "assistant"}, {"content", first["content"]}});
  history.push_back({{"role", "user"}, {"content", results}});
  say("<|START_TEXT|>It is warm.<|END_TEXT|>");
  Json second = both(message_body({{"messages", history}, {"tools", tools}}));
  EXPECT_EQ(second["content"][0]["text"], "It is warm.");
}

TEST_F(MessagesTest, StopReasons) {
  say("<|START_TEXT|>one two three<|END_TEXT|>");
  Json whole = both(message_body({{"stop_sequences", {"two", "x"}}}));
  EXPECT_EQ(whole["stop_reason"], "stop_sequence");
  EXPECT_EQ(whole["stop_sequence"], "two");
  EXPECT_EQ(whole["content"][0]["text"], "one ");
  EXPECT_EQ(both(message_body({{"max_tokens", 3}}))["stop_reason"], "max_tokens");
}

TEST_F(MessagesTest, TokensAreCounted) {
  say("<|START_TEXT|>x");
  Json body = message_body();
  Json usage = answer(kMessages, body)["usage"];
  int64_t all =
      usage["input_tokens"].get<int64_t>() + usage["cache_read_input_tokens"].get<int64_t>();
  body.erase("max_tokens");
  EXPECT_EQ(count(body), all);
  Json line = {{"type", "text"}, {"text", "x-anthropic-billing-header: cc_version=1"}};
  body["system"] = Json::array({line});
  EXPECT_EQ(count(body), all) << "Claude Code's own line is no part of the prompt";
  body["system"] = "Be brief.";
  EXPECT_GT(count(body), all);
}

TEST_F(MessagesTest, ErrorsHaveAnthropicsShape) {
  say("x");
  auto error = [&](const Json& body, int status = 400) {
    http::Response response = post(kMessages, body);
    EXPECT_EQ(response.status, status);
    Json json = Json::parse(response.body);
    EXPECT_EQ(json["type"], "error");
    return json["error"];
  };
  Json none = message_body();
  none.erase("max_tokens");
  EXPECT_NE(error(none)["message"].get<std::string>().find("max_tokens"), std::string::npos);
  EXPECT_EQ(error(none)["type"], "invalid_request_error");
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"messages", 1},
           {"system", 1},
           {"tools", Json::array({{{"name", "x"}}})},
           {"tool_choice", {{"type", "some"}}},
           {"thinking", {{"type", "some"}}},
           {"stop_sequences", "x"},
           {"messages",
            Json::array({{{"role", "user"}, {"content", Json::array({{{"type", "image"}}})}}})}}) {
    std::string message = error(message_body({{key, value}}))["message"];
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
  Json big =
      message_body({{"messages", {{{"role", "user"}, {"content", std::string(3000, 'x')}}}}});
  EXPECT_TRUE(error(big)["message"].get<std::string>().starts_with("prompt is too long: "));
  EXPECT_EQ(Json::parse(ask("GET", kMessages, "").body)["error"]["type"], "not_found_error");
}

}  // namespace
}  // namespace nmc::test
