#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

class CompletionsTest : public ApiTest {
 protected:
  std::string text_of(const std::vector<Json>& chunks) {
    std::string text;
    for (const Json& chunk : chunks) {
      if (!chunk["choices"].empty()) text += chunk["choices"][0]["text"].get<std::string>();
    }
    return text;
  }
};

TEST_F(CompletionsTest, TextAndIdsAndLists) {
  say("world");
  for (const Json& prompt : {Json("hello"), Json::array({104, 105}), Json::array({"hello"}),
                             Json::array({Json::array({104, 105})})}) {
    Json body = answer(kCompletions, {{"prompt", prompt}});
    EXPECT_EQ(body["object"], "text_completion");
    EXPECT_EQ(body["model"], "tiny");
    EXPECT_EQ(body["choices"][0]["text"], "world");
    EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
    EXPECT_EQ(body["usage"]["completion_tokens"], 6);  // with the end of turn
  }
  Json body = answer(kCompletions, {{"prompt", "hello"}, {"echo", true}, {"max_tokens", 3}});
  EXPECT_EQ(body["choices"][0]["text"], "hellowor");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(body["usage"]["total_tokens"], 8);
}

TEST_F(CompletionsTest, PromptsTimesAnswers) {
  device_->noise = 5;
  say("x");
  Json body = {{"prompt", {"ab", "cd"}}, {"n", 2},       {"seed", 3},
               {"max_tokens", 6},        {"echo", true}, {"ignore_eos", true}};
  Json whole = answer(kCompletions, body);
  ASSERT_EQ(whole["choices"].size(), 4u);
  EXPECT_EQ(whole["usage"]["prompt_tokens"], 4);
  EXPECT_EQ(whole["usage"]["completion_tokens"], 24);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(whole["choices"][i]["index"], i);
    EXPECT_TRUE(whole["choices"][i]["text"].get<std::string>().starts_with(i < 2 ? "ab" : "cd"));
  }
  EXPECT_NE(whole["choices"][0]["text"], whole["choices"][1]["text"]) << "each has its own seed";
  std::vector<std::string> texts(4);
  std::vector<int> ends(4);
  for (const Json& chunk : events(kCompletions, body)) {
    const Json& choice = chunk["choices"][0];
    texts[choice["index"]] += choice["text"].get<std::string>();
    ends[choice["index"]] += !choice["finish_reason"].is_null();
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(texts[i], whole["choices"][i]["text"]);
  EXPECT_EQ(ends, std::vector<int>(4, 1));
  body["prompt"] = "ab";
  body["n"] = 1;
  EXPECT_EQ(answer(kCompletions, body)["choices"][0], whole["choices"][0]);
}

TEST_F(CompletionsTest, EchoWithLogProbabilitiesScoresThePrompt) {
  say("xy");
  Json body = {{"prompt", "abd"}, {"echo", true}, {"logprobs", 1}, {"max_tokens", 2}};
  const Json whole = answer(kCompletions, body);
  const Json& choice = whole["choices"][0];
  EXPECT_EQ(choice["text"], "abdxy");
  const Json& logprobs = choice["logprobs"];
  EXPECT_EQ(logprobs["tokens"].dump(), R"(["a","b","d","x","y"])");
  EXPECT_EQ(logprobs["text_offset"].dump(), "[0,1,2,3,4]");
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null());
  EXPECT_TRUE(logprobs["top_logprobs"][0].is_null());
  EXPECT_NEAR(logprobs["token_logprobs"][1].get<double>(), 0, 1e-6);
  EXPECT_LT(logprobs["token_logprobs"][2].get<double>(), -90);  // "c" was to come
  EXPECT_TRUE(logprobs["top_logprobs"][2].contains("c"));
  EXPECT_NEAR(logprobs["token_logprobs"][3].get<double>(), 0, 1e-6);

  // A stream says the same.
  Json streamed = {{"tokens", Json::array()}, {"text_offset", Json::array()}};
  std::string text;
  for (const Json& chunk : events(kCompletions, body)) {
    text += chunk["choices"][0]["text"].get<std::string>();
    for (auto& [key, list] : streamed.items()) {
      for (const Json& item : chunk["choices"][0]["logprobs"][key]) list.push_back(item);
    }
  }
  EXPECT_EQ(text, "abdxy");
  for (auto& [key, list] : streamed.items()) EXPECT_EQ(list, logprobs[key]);

  // The prompt alone, as evaluations ask for it; the second time it is in the cache.
  body["max_tokens"] = 0;
  for (const Json& prompt : {Json("abd"), Json({97, 98, 100})}) {
    body["prompt"] = prompt;
    const Json alone = answer(kCompletions, body);
    EXPECT_EQ(alone["choices"][0]["text"], "abd");
    EXPECT_EQ(alone["choices"][0]["finish_reason"], "length");
    EXPECT_EQ(alone["choices"][0]["logprobs"]["tokens"].size(), 3u);
    EXPECT_EQ(alone["usage"]["completion_tokens"], 0);
  }
  refusal(kCompletions, {{"prompt", "abd"}, {"max_tokens", 0}});
}

TEST_F(CompletionsTest, SixteenTokensUnlessAsked) {
  say("0123456789abcdefghij");
  EXPECT_EQ(answer(kCompletions, {{"prompt", "x"}})["choices"][0]["text"], "0123456789abcdef");
}

TEST_F(CompletionsTest, AStreamAddsUpToTheWholeAnswer) {
  say("caf\xc3\xa9 \xf0\x9f\x98\x80!");
  Json body = {{"prompt", "hello"}, {"max_tokens", 100}, {"echo", true}};
  std::string whole = answer(kCompletions, body)["choices"][0]["text"];
  body["stream_options"] = {{"include_usage", true}};
  auto chunks = events(kCompletions, body);
  EXPECT_EQ(text_of(chunks), whole);
  EXPECT_EQ(whole, "hellocaf\xc3\xa9 \xf0\x9f\x98\x80!");
  ASSERT_GE(chunks.size(), 3u);
  EXPECT_EQ(chunks.back()["usage"]["completion_tokens"], 12);
  EXPECT_EQ(chunks[chunks.size() - 2]["choices"][0]["finish_reason"], "stop");
}

TEST_F(CompletionsTest, StopStringsEndTheTextInFrontOfThem) {
  say("one two three");
  Json body = {{"prompt", "x"}, {"stop", {"zzz", "two"}}};
  Json choice = answer(kCompletions, body)["choices"][0];
  EXPECT_EQ(choice["text"], "one ");
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(text_of(events(kCompletions, body)), "one ");
  body["stop"] = "threexyz";  // begins and does not come
  EXPECT_EQ(text_of(events(kCompletions, body)), "one two three");
}

TEST_F(CompletionsTest, LogprobsAreParallelLists) {
  say("h\xc3\xa9!");
  Json choice = answer(kCompletions, {{"prompt", "x"}, {"logprobs", 2}})["choices"][0];
  const Json& logprobs = choice["logprobs"];
  EXPECT_EQ(logprobs["tokens"].size(), 4u);
  EXPECT_EQ(logprobs["tokens"][0], "h");
  EXPECT_EQ(logprobs["text_offset"][0], 0);
  EXPECT_EQ(logprobs["text_offset"][1], 1);
  EXPECT_NEAR(logprobs["token_logprobs"][0].get<double>(), 0.0, 1e-6);
  EXPECT_EQ(logprobs["top_logprobs"][0].size(), 2u);
  EXPECT_TRUE(logprobs["top_logprobs"][0].contains("h"));
}

TEST_F(CompletionsTest, MarkersAreHiddenUnlessAsked) {
  say("a<|START_TEXT|>b");
  EXPECT_EQ(answer(kCompletions, {{"prompt", "x"}})["choices"][0]["text"], "ab");
  Json raw = {{"prompt", "x"}, {"skip_special_tokens", false}};
  EXPECT_EQ(answer(kCompletions, raw)["choices"][0]["text"], "a<|START_TEXT|>b");
}

TEST_F(CompletionsTest, OverflowIsRefusedBeforeTheStreamWithBothNumbers) {
  say("y", /*endless=*/true);
  for (bool stream : {false, true}) {
    for (size_t size : {size_t{512}, size_t{513}, size_t{5120}}) {
      Json error = refusal(kCompletions, {{"prompt", std::string(size, 'a')}, {"stream", stream}});
      EXPECT_EQ(error["type"], "exceed_context_size_error");
      EXPECT_EQ(error["code"], "context_length_exceeded");
      EXPECT_EQ(error["n_prompt_tokens"], size);
      EXPECT_EQ(error["n_ctx"], 512);
      std::string message = error["message"];
      EXPECT_NE(message.find("maximum context length is 512 tokens"), std::string::npos);
      EXPECT_NE(message.find("exceeds the available context size"), std::string::npos);
    }
  }
  // One token of room: that token, whatever was asked for.
  Json body = answer(kCompletions, {{"prompt", std::string(511, 'a')}, {"max_tokens", 32000}});
  EXPECT_EQ(body["choices"][0]["text"], "y");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
}

TEST_F(CompletionsTest, AnEmptyPromptIsRefused) {
  EXPECT_EQ(refusal(kCompletions, {{"prompt", Json::array()}})["type"], "invalid_request_error");
}

TEST_F(CompletionsTest, BiasesPenaltiesAndStopTokensReachTheEngine) {
  say("abab");
  auto text = [&](const Json& more) {
    Json body = {{"prompt", "x"}, {"temperature", 0}, {"max_tokens", 8}};
    body.update(more);
    return answer(kCompletions, body)["choices"][0]["text"].get<std::string>();
  };
  EXPECT_EQ(text(Json::object()), "abab");
  EXPECT_EQ(text({{"stop_token_ids", Json::array({'b'})}}), "a");
  // The device says the wanted token with a logit of 100 and all others with 0.
  EXPECT_EQ(text({{"logit_bias", {{"98", -100}, {"99", 1}}}, {"max_tokens", 2}}), "ac");
  EXPECT_EQ(text({{"min_tokens", 5}, {"logit_bias", {{"33", 1}}}}).substr(0, 5), "abab!");
  Json strong = {{"logit_bias", {{"99", 99.5}}}, {"max_tokens", 4}};
  EXPECT_EQ(text(strong), "abab");
  for (const char* penalty : {"frequency_penalty", "presence_penalty"}) {
    strong[penalty] = 1;
    EXPECT_EQ(text(strong).substr(0, 3), "abc") << penalty;
    strong.erase(penalty);
  }
  for (const char* penalty : {"repetition_penalty", "repeat_penalty"}) {
    strong[penalty] = 1.5;
    EXPECT_EQ(text(strong).substr(0, 3), "abc") << penalty;
    strong.erase(penalty);
  }
}

}  // namespace
}  // namespace nmc::test
