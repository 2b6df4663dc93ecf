#include <gtest/gtest.h>

#include "runtime/text/dialect/hermes_parser.h"
#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

const Reading kAnswer{.dialect = Dialect::kHermes, .start = StartMode::kContent};
const Reading kThinking{.dialect = Dialect::kHermes, .start = StartMode::kReasoning};

Transcript answered(std::string reasoning, std::string content, std::vector<Call> calls = {}) {
  return {std::move(reasoning), std::move(content), std::move(calls), ""};
}

TEST(Hermes, PlainAnswer) {
  EXPECT_EQ(read("Hello <b>you</b>.\n", kAnswer), answered("", "Hello <b>you</b>."));
}

TEST(Hermes, ThinkingWithAndWithoutItsOpeningTag) {
  EXPECT_EQ(read("<think>\nhm\n</think>\n\nYes.", kAnswer), answered("hm", "Yes."));
  EXPECT_EQ(read("\nhm\n</think>\n\nYes.<|im_end|>", kThinking), answered("hm", "Yes."));
  EXPECT_EQ(read("<think>\n\n</think>\n\nYes.", kAnswer), answered("", "Yes."));
}

TEST(Hermes, AStrayEndOfThinkingBeforeTheAnswerIsDropped) {
  EXPECT_EQ(read("\n</think>\n\nYes.", kAnswer), answered("", "Yes."));
}

TEST(Hermes, AnAnswerMayMentionTheTags) {
  EXPECT_EQ(read("Use <think> and </think>.", kAnswer), answered("", "Use <think> and </think>."));
  EXPECT_EQ(read("The tag <tool_call> opens.", kAnswer),
            answered("", "The tag <tool_call> opens."));
  EXPECT_EQ(read("<tool_call></tool_call> x", kAnswer), answered("", "<tool_call></tool_call> x"));
}

TEST(Hermes, OneCall) {
  std::string text =
      "Sure.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": "
      "\"</tool_call>\"}}\n</tool_call>";
  EXPECT_EQ(read(text, kAnswer),
            answered("", "Sure.", {{"f", "{\"x\": \"</tool_call>\"}", "", true}}));
}

TEST(Hermes, SeveralCalls) {
  std::string one = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
  std::string two = "<tool_call>{\"arguments\": {\"a\": 1}, \"name\": \"g\"}</tool_call>";
  std::vector<Call> calls{{"f", "{}", "", true}, {"g", "{\"a\": 1}", "", true}};
  EXPECT_EQ(read("x</think>\n\n" + one + "\n" + two, kThinking), answered("x", "", calls));
}

TEST(Hermes, ACallWithoutItsClosingTag) {
  std::string text = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}";
  EXPECT_EQ(read(text, kAnswer).calls, (std::vector<Call>{{"f", "{\"x\": 1}", "", true}}));
  EXPECT_EQ(read(text + "\n<tool_call>{\"name\":\"g\"}", kAnswer).calls.size(), 2u);
}

TEST(Hermes, ACallCutAnywhereIsNeverComplete) {
  std::string text = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": {\"y\": \"}\"}}}";
  for (size_t length = 0; length < text.size(); ++length) {
    Reading how = kAnswer;
    how.cut = true;
    for (const Call& c : read(text.substr(0, length), how).calls) EXPECT_FALSE(c.complete);
  }
}

TEST(Hermes, WithoutToolsCallsAreNeitherReportedNorShown) {
  Reading how = kAnswer;
  how.tools = false;
  EXPECT_EQ(read("a <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", how),
            answered("", "a"));
}

TEST(Hermes, TagsInsideThoughtAreThought) {
  EXPECT_EQ(read("<tool_call>{} hm</think>a", kThinking), answered("<tool_call>{} hm", "a"));
}

}  // namespace
}  // namespace nmc
