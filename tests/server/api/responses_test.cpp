// OpenAI's newer API over the same answers.
#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

constexpr const char* kResponses = "/v1/responses";

class ResponsesTest : public ApiTest {
 protected:
  ResponsesTest() : ApiTest(Setup{.context = 2048}) {}

  // The whole answer, after checking that the stream tells the same.
  Json both(const Json& body) {
    Json whole = answer(kResponses, body);
    auto told = named_events(kResponses, body);
    EXPECT_EQ(told.front()["type"], "response.created");
    for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i]["sequence_number"], i);
    std::vector<std::string> texts;
    for (const Json& event : told) {
      const std::string type = event["type"];
      if (type == "response.output_item.added") texts.emplace_back();
      if (type.ends_with(".delta")) texts[event["output_index"]] += event["delta"];
    }
    const Json& last = told.back()["response"];
    EXPECT_EQ(last["status"], whole["status"]);
    EXPECT_EQ(last["output"].size(), whole["output"].size());
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(text_of(last["output"][i]), text_of(whole["output"][i]));
      EXPECT_EQ(text_of(last["output"][i]), texts[i]);
    }
    return whole;
  }

  static std::string text_of(const Json& item) {
    if (item.contains("arguments")) return item["arguments"];
    return item["content"][0]["text"];
  }

  std::string prompt_of(const Json& body) {
    say("x");
    Json usage = answer(kResponses, body)["usage"];
    return usage["input_tokens"].dump();
  }
};

const Json kWeatherFunction = {{"type", "function"},
                               {"name", "weather"},
                               {"parameters", {{"type", "object"}}},
                               {"strict", false}};

TEST_F(ResponsesTest, ReasoningAndText) {
  say("Hm.<|END_THINKING|><|START_TEXT|>Hello!<|END_TEXT|>");
  Json whole = both({{"input", "hi"}, {"metadata", {{"a", "b"}}}});
  EXPECT_EQ(whole["object"], "response");
  EXPECT_EQ(whole["status"], "completed");
  EXPECT_EQ(whole["metadata"]["a"], "b");
  ASSERT_EQ(whole["output"].size(), 2u);
  EXPECT_EQ(whole["output"][0]["type"], "reasoning");
  EXPECT_EQ(whole["output"][0]["content"][0]["type"], "reasoning_text");
  EXPECT_EQ(whole["output"][1]["type"], "message");
  EXPECT_EQ(whole["output"][1]["content"][0]["text"], "Hello!");
  EXPECT_EQ(whole["usage"]["output_tokens"], 3 + 1 + 1 + 6 + 1 + 1);
  EXPECT_EQ(whole["usage"]["output_tokens_details"]["reasoning_tokens"], 3);
}

TEST_F(ResponsesTest, CallsAndTheirResults) {
  say(kTwoCalls);
  Json unknown = {{"type", "web_search"}};
  Json first = both({{"input", "hi"}, {"tools", {unknown, kWeatherFunction}}});
  ASSERT_EQ(first["output"].size(), 3u);
  const Json& call = first["output"][1];
  EXPECT_EQ(call["type"], "function_call");
  EXPECT_EQ(call["name"], "weather");
  EXPECT_EQ(Json::parse(call["arguments"].get<std::string>())["city"], "Bonn");
  EXPECT_NE(call["call_id"], first["output"][2]["call_id"]);

  // What came back is fit to be sent.
  Json input = Json::array({{{"role", "user"}, {"content", "hi"}}});
  for (const Json& item : first["output"]) input.push_back(item);
  for (size_t i : {1, 2}) {
    input.push_back({{"type", "function_call_output"},
                     {"call_id", first["output"][i]["call_id"]},
                     {"output", "warm"}});
  }
  input.push_back({{"type", "web_search_call"}, {"id", "ws_1"}});
  say("<|END_THINKING|><|START_TEXT|>It is warm.<|END_TEXT|>");
  Json second = both({{"input", input}, {"tools", {kWeatherFunction}}});
  EXPECT_EQ(second["output"][0]["content"][0]["text"], "It is warm.");
}

TEST_F(ResponsesTest, ACutAnswerIsIncomplete) {
  say("<|END_THINKING|><|START_TEXT|>Hello!<|END_TEXT|>");
  Json whole = both({{"input", "hi"}, {"max_output_tokens", 4}});
  EXPECT_EQ(whole["status"], "incomplete");
  EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(whole["output"][0]["content"][0]["text"], "He");
  EXPECT_EQ(whole["output"][0]["status"], "incomplete");
}

TEST_F(ResponsesTest, StructuredText) {
  say("<|END_THINKING|><|START_TEXT|>{\"a\": 1}<|END_TEXT|>");
  Json schema = {{"type", "object"},
                 {"properties", {{"a", {{"type", "integer"}}}}},
                 {"required", {"a"}},
                 {"additionalProperties", false}};
  Json format = {{"type", "json_schema"}, {"name", "x"}, {"strict", true}, {"schema", schema}};
  Json whole = both({{"input", "hi"}, {"text", {{"format", format}}}});
  EXPECT_EQ(whole["output"][0]["content"][0]["text"], "{\"a\": 1}");
}

TEST_F(ResponsesTest, PartsAndInstructionsAreThePrompt) {
  Json parts = Json::array({{{"type", "input_text"}, {"text", "hi"}}});
  Json message = {{"type", "message"}, {"role", "user"}, {"content", parts}};
  EXPECT_EQ(prompt_of({{"input", Json::array({message})}}), prompt_of({{"input", "hi"}}));
  EXPECT_NE(prompt_of({{"input", "hi"}, {"instructions", "Be brief."}}),
            prompt_of({{"input", "hi"}}));
}

TEST_F(ResponsesTest, RefusalsNameTheirField) {
  say("x");
  const std::tuple<const char*, Json, const char*> wrong[] = {
      {"input", nullptr, "input"},
      {"input", Json::array(), "input"},
      {"input", Json::array({1}), "input[0]"},
      {"input", Json::array({{{"role", "user"}, {"content", 1}}}), "input[0].content"},
      {"input", Json::array({{{"type", "function_call"}, {"call_id", "a"}}}), "input[0].name"},
      {"input",
       Json::array({{{"role", "user"}, {"content", Json::array({{{"type", "input_image"}}})}}}),
       "input[0].content[0]"},
      {"input", Json::array({{{"type", "item_reference"}, {"id", "x"}}}), "input[0]"},
      {"instructions", 1, "instructions"},
      {"tools", 1, "tools"},
      {"tools", Json::array({{{"type", "function"}}}), "tools[0].name"},
      {"tool_choice", {{"type", "web_search"}}, "tool_choice"},
      {"tool_choice", {{"type", "function"}, {"name", "none"}}, "tool_choice"},
      {"text", 1, "text"},
      {"text", {{"format", {{"type", "xml"}}}}, "format"},
      {"reasoning", 1, "reasoning"},
      {"max_output_tokens", 0, "max_output_tokens"},
      {"temperature", 99, "temperature"},
      {"background", true, "background"},
      {"previous_response_id", "resp_1", "previous_response_id"}};
  for (const auto& [key, value, place] : wrong) {
    Json body = {{"input", "hi"}};
    body[key] = value;
    std::string message = refusal(kResponses, body).value("message", "");
    EXPECT_NE(message.find(place), std::string::npos) << key << ": " << message;
  }
}

TEST_F(ResponsesTest, AFailedDeviceIsSaid) {
  say("y", /*endless=*/true);
  device_->step_ms = 5;
  http::Response response = post(kResponses, {{"input", "hi"}, {"stream", true}});
  device_->fail = true;
  MemoryClient client;
  response.stream(client);
  EXPECT_NE(client.pieces.back().find("event: response.failed"), std::string::npos);
}

}  // namespace
}  // namespace nmc::test
