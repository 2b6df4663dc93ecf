// What is refused, and that each refusal names its field.
#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

// A list in place of a schema.
Json tool_with_list() {
  Json tool = weather_tool();
  tool["function"]["parameters"] = Json::array();
  return tool;
}

class RequestTest : public ApiTest {
 protected:
  RequestTest() { say("x"); }

  void expect_refused(const std::string& path, Json body, const char* key, const Json& value) {
    body[key] = value;
    Json error = refusal(path, body);
    std::string message = error.value("message", "");
    EXPECT_NE(message.find(key), std::string::npos) << key << " " << value << ": " << message;
    EXPECT_EQ(error.value("type", ""), "invalid_request_error");
  }
};

TEST_F(RequestTest, WrongTypesAndRangesNameTheirField) {
  const std::pair<const char*, Json> wrong[] = {{"temperature", "hot"},
                                                {"temperature", -1},
                                                {"temperature", 1000},
                                                {"top_p", 0},
                                                {"top_p", 2},
                                                {"top_p", true},
                                                {"top_k", 1.5},
                                                {"top_k", -2},
                                                {"min_p", -0.1},
                                                {"seed", "x"},
                                                {"max_tokens", 0},
                                                {"max_tokens", "many"},
                                                {"stream", "yes"},
                                                {"frequency_penalty", 2.1},
                                                {"presence_penalty", "x"},
                                                {"repetition_penalty", 0},
                                                {"repeat_penalty", 11},
                                                {"logit_bias", 1},
                                                {"logit_bias", {{"5", 101}}},
                                                {"logit_bias", {{"5", "x"}}},
                                                {"logit_bias", {{"-5", 1}}},
                                                {"logit_bias", {{"5x", 1}}},
                                                {"logit_bias", {{"99999", 1}}},
                                                {"n", 0},
                                                {"n", 129},
                                                {"grammar", ""},
                                                {"grammar", "root ::= root \"a\""},
                                                {"grammar", "root ::= \"a\" root"},
                                                {"json_schema", 3},
                                                {"min_tokens", -1},
                                                {"min_tokens", true},
                                                {"stop_token_ids", 5},
                                                {"stop_token_ids", Json::array({-1})},
                                                {"stop_token_ids", Json::array({99999})},
                                                {"stop", 3},
                                                {"stop", Json::array({1})},
                                                {"stop", ""},
                                                {"model", 3},
                                                {"ignore_eos", 1},
                                                {"stream_options", 1},
                                                {"max_completion_tokens", -5},
                                                {"stop", Json(std::vector<std::string>(17, "x"))}};
  for (const auto& [key, value] : wrong) {
    expect_refused(kCompletions, {{"prompt", "a"}}, key, value);
    expect_refused(kChat, chat_body(), key, value);
  }
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, Json>>{{"prompt", 3},
                                                           {"prompt", Json::array({1, "a"})},
                                                           {"prompt", Json::array({-1})},
                                                           {"prompt", Json::array({1e30})},
                                                           {"prompt", nullptr},
                                                           {"prompt", Json::array({"a", 1})},
                                                           {"prompt", Json::array()},
                                                           {"logprobs", -1},
                                                           {"logprobs", 21},
                                                           {"logprobs", true},
                                                           {"echo", 1},
                                                           {"suffix", "b"}}) {
    expect_refused(kCompletions, {{"prompt", "a"}}, key, value);
  }
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"messages", "a"},
           {"messages", Json::array()},
           {"messages", Json::array({1})},
           {"tools", 1},
           {"tools", Json::array({Json::object()})},
           {"tools", Json::array({tool_with_list()})},
           {"tool_choice", "maybe"},
           {"reasoning_effort", "some"},
           {"reasoning_budget", -2},
           {"thinking_token_budget", "x"},
           {"chat_template_kwargs", 1},
           {"logprobs", 1},
           {"top_logprobs", 3}}) {
    expect_refused(kChat, chat_body(), key, value);
  }
}

TEST_F(RequestTest, WhatIsNotSupportedIsNeverIgnored) {
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"best_of", 2},
           {"structured_outputs", {{"structural_tag", "a"}}},
           {"functions", Json::array({1})}}) {
    expect_refused(kCompletions, {{"prompt", "a"}}, key, value);
    expect_refused(kChat, chat_body(), key, value);
  }
  Json error = refusal(kChat, chat_body({{"best_of", 2}}));
  EXPECT_EQ(error["code"], "unsupported");
}

TEST_F(RequestTest, NeutralAndUnknownFieldsAreFine) {
  Json neutral = {{"n", 1},
                  {"logit_bias", Json::object()},
                  {"frequency_penalty", 0},
                  {"presence_penalty", 0.0},
                  {"response_format", {{"type", "text"}}},
                  {"top_k", -1},
                  {"seed", -7},
                  {"stop", nullptr},
                  {"temperature", nullptr},
                  {"user", "me"},
                  {"no_such_field", {{"a", 1}}},
                  {"max_tokens", 1'000'000'000}};
  Json completion = neutral;
  completion["prompt"] = "a";
  answer(kCompletions, completion);
  neutral["tool_choice"] = "auto";
  neutral["tools"] = Json::array();
  answer(kChat, chat_body(neutral));
}

TEST_F(RequestTest, MinTokensMayNotExceedMaxTokens) {
  Json body = {{"prompt", "a"}, {"max_tokens", 3}, {"min_tokens", 4}};
  EXPECT_NE(refusal(kCompletions, body).value("message", "").find("min_tokens"), std::string::npos);
}

TEST_F(RequestTest, BodiesThatAreNoObjectAreRefused) {
  for (const char* body : {"", "[]", "3", "{", "{\"prompt\": \"\xff\"}", "null", "{} {}"}) {
    for (const char* path : {kCompletions, kChat, "/tokenize", "/detokenize", "/apply-template"}) {
      EXPECT_EQ(ask("POST", path, body).status, 400) << path << " " << body;
    }
  }
  EXPECT_EQ(ask("POST", kChat, std::string(1 << 20, '[')).status, 400);
}

TEST_F(RequestTest, SmallEndpoints) {
  EXPECT_EQ(answer("/tokenize", {{"content", "ab<|END_TEXT|>"}})["tokens"],
            Json::array({97, 98, 265}));
  EXPECT_EQ(answer("/tokenize", {{"content", "<|END_TEXT|>"}, {"parse_special", false}})["count"],
            12);
  EXPECT_EQ(answer("/detokenize", {{"tokens", {97, 98, 265}}})["content"], "ab<|END_TEXT|>");
  EXPECT_EQ(refusal("/detokenize", {{"tokens", {9999}}})["type"], "invalid_request_error");
  Json rendered = answer("/apply-template", chat_body({{"reasoning_effort", "none"}}));
  std::string prompt = rendered["prompt"];
  EXPECT_TRUE(prompt.ends_with("<|START_THINKING|><|END_THINKING|>")) << prompt;
  prompt = answer("/apply-template",
                  chat_body({{"chat_template_kwargs", {{"reasoning", true}}}}))["prompt"];
  EXPECT_TRUE(prompt.ends_with("<|START_THINKING|>")) << prompt;
  Json tools = {{"tools", Json::array({weather_tool()})}};
  prompt = answer("/apply-template", chat_body(tools))["prompt"];
  EXPECT_NE(prompt.find("\"weather\""), std::string::npos);
  tools["tool_choice"] = "none";
  prompt = answer("/apply-template", chat_body(tools))["prompt"];
  EXPECT_EQ(prompt.find("\"weather\""), std::string::npos);
}

}  // namespace
}  // namespace nmc::test
