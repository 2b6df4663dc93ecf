#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

class ChatTest : public ApiTest {
 protected:
  Json choice(const Json& body) { return answer(kChat, body)["choices"][0]; }

  // The whole answer, after checking that the stream adds up to it.
  Json both(const Json& body) {
    Json whole = choice(body);
    Json streamed = assemble(events(kChat, body));
    Json a = whole["message"], b = streamed["message"];
    EXPECT_EQ(a["role"], b["role"]);
    EXPECT_EQ(a["content"].is_null() ? "" : a["content"], b["content"]);
    EXPECT_EQ(a.value("reasoning_content", ""), b.value("reasoning_content", ""));
    EXPECT_EQ(whole["finish_reason"], streamed["finish_reason"]);
    Json calls = a.value("tool_calls", Json::array());
    Json pieces = b.value("tool_calls", Json::array());
    EXPECT_EQ(calls.size(), pieces.size());
    for (size_t i = 0; i < std::min(calls.size(), pieces.size()); ++i) {
      EXPECT_EQ(calls[i]["function"], pieces[i]["function"]);
    }
    if (whole["logprobs"].is_object()) {
      EXPECT_EQ(whole["logprobs"]["content"], streamed["logprobs"]);
    }
    return whole;
  }
};

TEST_F(ChatTest, ReasoningAndContentAreApart) {
  say("Hm, well.<|END_THINKING|><|START_TEXT|>It is \xf0\x9f\x98\x80.<|END_TEXT|>");
  Json whole = both(chat_body());
  EXPECT_EQ(whole["message"]["reasoning_content"], "Hm, well.");
  EXPECT_EQ(whole["message"]["content"], "It is \xf0\x9f\x98\x80.");
  EXPECT_EQ(whole["finish_reason"], "stop");
  EXPECT_FALSE(whole["message"].contains("tool_calls"));
}

TEST_F(ChatTest, WithReasoningOffTheAnswerIsContent) {
  say("<|START_TEXT|>yes<|END_TEXT|>");
  Json whole = both(chat_body({{"reasoning_effort", "none"}}));
  EXPECT_EQ(whole["message"]["content"], "yes");
  EXPECT_FALSE(whole["message"].contains("reasoning_content"));
}

TEST_F(ChatTest, UsageCountsReasoning) {
  say("Hm.<|END_THINKING|><|START_TEXT|>yes<|END_TEXT|>");
  Json usage = answer(kChat, chat_body())["usage"];
  EXPECT_EQ(usage["completion_tokens"], 10);  // with the end of turn
  EXPECT_EQ(usage["completion_tokens_details"]["reasoning_tokens"], 3);
  EXPECT_TRUE(usage["prompt_tokens_details"]["cached_tokens"].is_number_integer());
  auto chunks = events(kChat, chat_body({{"stream_options", {{"include_usage", true}}}}));
  Json streamed = chunks.back()["usage"];
  for (const char* key : {"prompt_tokens", "completion_tokens", "completion_tokens_details"}) {
    EXPECT_EQ(streamed[key], usage[key]);
  }
  EXPECT_TRUE(chunks.back()["choices"].empty());
  EXPECT_FALSE(events(kChat, chat_body()).back().contains("usage"));
}

TEST_F(ChatTest, TheHeadOfACallIsNoReasoning) {
  say(kTwoCalls);
  Json usage = answer(kChat, chat_body({{"tools", Json::array({weather_tool()})}}))["usage"];
  EXPECT_EQ(usage["completion_tokens_details"]["reasoning_tokens"], 12);  // "Let me look."
}

TEST_F(ChatTest, CallsHaveIdsAndIndices) {
  say(kTwoCalls);
  Json body = chat_body({{"tools", Json::array({weather_tool()})}});
  Json whole = both(body);
  EXPECT_EQ(whole["finish_reason"], "tool_calls");
  EXPECT_TRUE(whole["message"]["content"].is_null());
  const Json& calls = whole["message"]["tool_calls"];
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]["type"], "function");
  EXPECT_EQ(calls[0]["function"]["name"], "weather");
  EXPECT_EQ(Json::parse(calls[0]["function"]["arguments"].get<std::string>())["city"], "Bonn");
  EXPECT_EQ(Json::parse(calls[1]["function"]["arguments"].get<std::string>()), Json::object());
  EXPECT_FALSE(calls[0]["id"].get<std::string>().empty());
  EXPECT_NE(calls[0]["id"], calls[1]["id"]);
  for (const Json& chunk : events(kChat, body)) {
    for (const Json& call : chunk["choices"][0]["delta"].value("tool_calls", Json::array())) {
      EXPECT_TRUE(call["index"].is_number_integer());
      EXPECT_EQ(call.contains("id"), call["function"].contains("name"));
    }
  }
}

TEST_F(ChatTest, SeveralAnswers) {
  say("Hm<|END_THINKING|><|START_TEXT|>ok<|END_TEXT|>");
  Json body = chat_body({{"n", 3}, {"stream_options", {{"include_usage", true}}}});
  Json whole = answer(kChat, body);
  ASSERT_EQ(whole["choices"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(whole["choices"][i]["index"], i);
    EXPECT_EQ(whole["choices"][i]["message"]["content"], "ok");
    EXPECT_EQ(whole["choices"][i]["finish_reason"], "stop");
  }
  EXPECT_EQ(whole["usage"]["completion_tokens"], 3 * 8);
  std::vector<std::string> contents(3), ends(3);
  for (const Json& chunk : events(kChat, body)) {
    if (chunk["choices"].empty()) continue;
    const Json& choice = chunk["choices"][0];
    contents[choice["index"]] += choice["delta"].value("content", "");
    if (!choice["finish_reason"].is_null()) ends[choice["index"]] += choice["finish_reason"];
  }
  EXPECT_EQ(contents, std::vector<std::string>(3, "ok"));
  EXPECT_EQ(ends, std::vector<std::string>(3, "stop"));
  EXPECT_EQ(post(kChat, chat_body({{"n", 5}})).status, 400) << "more than the queue ever holds";
}

TEST_F(ChatTest, AThoughtEndsAtItsBudget) {
  say("abcdefgh<|END_THINKING|><|START_TEXT|>ok<|END_TEXT|>");
  for (const char* name : {"reasoning_budget", "thinking_budget_tokens", "thinking_token_budget"}) {
    Json whole = both(chat_body({{name, 3}, {"max_tokens", 12}}));
    EXPECT_EQ(whole["message"]["reasoning_content"], "abc") << name;
    EXPECT_EQ(whole["message"]["reasoning"], "abc");
  }
  Json free = choice(chat_body({{"reasoning_budget", 100}}));
  EXPECT_EQ(free["message"]["reasoning_content"], "abcdefgh");
  Json none = choice(chat_body({{"reasoning_budget", 0}, {"max_tokens", 12}}));
  EXPECT_FALSE(none["message"].contains("reasoning_content"));
  // Together with a grammar of the answer.
  Json formatted = choice(
      chat_body({{"reasoning_budget", 2}, {"max_tokens", 30}, {"grammar", "root ::= \"yes\""}}));
  EXPECT_EQ(formatted["message"]["reasoning_content"], "ab");
  EXPECT_EQ(formatted["message"]["content"], "yes");
}

TEST_F(ChatTest, ForeignMarkersAreNobodysText) {
  say("<|END_THINKING|><|START_TEXT|>a<|USER_TOKEN|>b<BOS_TOKEN><|END_TEXT|>");
  EXPECT_EQ(both(chat_body())["message"]["content"], "ab");
}

TEST_F(ChatTest, OneCallWhenAskedForOne) {
  say(kTwoCalls);
  Json whole =
      both(chat_body({{"tools", Json::array({weather_tool()})}, {"parallel_tool_calls", false}}));
  EXPECT_EQ(whole["message"]["tool_calls"].size(), 1u);
  EXPECT_EQ(whole["finish_reason"], "tool_calls");
}

TEST_F(ChatTest, ACutCallSaysLength) {
  say(kTwoCalls);
  Json whole = both(chat_body({{"tools", Json::array({weather_tool()})}, {"max_tokens", 100}}));
  EXPECT_EQ(whole["finish_reason"], "length");
}

TEST_F(ChatTest, WithoutToolsNoCallIsShown) {
  say(kTwoCalls);
  Json whole = both(chat_body());
  EXPECT_FALSE(whole["message"].contains("tool_calls"));
  EXPECT_EQ(whole["finish_reason"], "stop");
}

TEST_F(ChatTest, StopStringsApplyToTheContentOnly) {
  say("one two three<|END_THINKING|><|START_TEXT|>one two three<|END_TEXT|>");
  Json whole = both(chat_body({{"stop", "two"}}));
  EXPECT_EQ(whole["message"]["reasoning_content"], "one two three");
  EXPECT_EQ(whole["message"]["content"], "one ");
  EXPECT_EQ(whole["finish_reason"], "stop");
}

TEST_F(ChatTest, LogprobsAreThoseOfTheContent) {
  say("Hm<|END_THINKING|><|START_TEXT|>h\xc3\xa9 z<|END_TEXT|>");
  Json whole = both(chat_body({{"logprobs", true}, {"top_logprobs", 2}}));
  const Json& content = whole["logprobs"]["content"];
  ASSERT_EQ(content.size(), 5u);
  EXPECT_EQ(content[0]["token"], "h");
  EXPECT_EQ(content[1]["bytes"], Json::array({0xc3}));
  EXPECT_EQ(content[3]["token"], " ");
  EXPECT_EQ(content[0]["top_logprobs"].size(), 2u);
  EXPECT_TRUE(choice(chat_body())["logprobs"].is_null());
}

TEST_F(ChatTest, HistoryOfCallsIsAccepted) {
  say("<|END_THINKING|><|START_TEXT|>ok<|END_TEXT|>");
  Json body = chat_body({{"tools", Json::array({weather_tool()})}});
  Json call = {{"id", "call_1"},
               {"type", "function"},
               {"function", {{"name", "weather"}, {"arguments", "{\"city\": \"Bonn\"}"}}}};
  body["messages"].push_back({{"role", "assistant"},
                              {"content", nullptr},
                              {"reasoning_content", "Hm."},
                              {"tool_calls", Json::array({call})}});
  body["messages"].push_back({{"role", "tool"}, {"tool_call_id", "call_1"}, {"content", "warm"}});
  EXPECT_EQ(choice(body)["message"]["content"], "ok");
  body["messages"][1]["tool_calls"][0]["function"]["arguments"] = "[broken";
  EXPECT_NE(refusal(kChat, body)["message"].get<std::string>().find("arguments"),
            std::string::npos);
}

TEST_F(ChatTest, OverflowIsRefusedBeforeTheStream) {
  Json body = chat_body();
  body["messages"][0]["content"] = std::string(600, 'a');
  body["stream"] = true;
  EXPECT_EQ(refusal(kChat, body)["code"], "context_length_exceeded");
}

}  // namespace
}  // namespace nmc::test
