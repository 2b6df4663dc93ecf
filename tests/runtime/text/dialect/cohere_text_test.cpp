#include "runtime/text/dialect/cohere_parser.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

const Reading kAnswerStart{.start = StartMode::kContent};

Transcript said(std::string reasoning, std::string content) {
  return {std::move(reasoning), std::move(content), {}, ""};
}

TEST(CohereText, ReasoningThenAnswer) {
  EXPECT_EQ(read("I think.<|END_THINKING|><|START_TEXT|>Yes.<|END_TEXT|><|END_OF_TURN_TOKEN|>"),
            said("I think.", "Yes."));
}

TEST(CohereText, TheOlderAnswerMarkersWorkToo) {
  Reading cmd3{.dialect = Dialect::kCmd3, .start = StartMode::kContent};
  std::string text = "<|START_THINKING|>plan<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>";
  EXPECT_EQ(read(text, cmd3), said("plan", "Yes."));
  EXPECT_EQ(read(text), said("plan", "Yes."));
}

TEST(CohereText, ARepeatedStartOfThinkingIsDropped) {
  EXPECT_EQ(read("<|START_THINKING|>hm<|END_THINKING|><|START_TEXT|>a<|END_TEXT|>"),
            said("hm", "a"));
}

TEST(CohereText, ThinkingMayEndWithoutItsMarker) {
  EXPECT_EQ(read("hm<|START_TEXT|>a<|END_TEXT|>"), said("hm", "a"));
}

TEST(CohereText, UnfinishedThoughtIsOnlyReasoning) {
  EXPECT_EQ(read("never done "), said("never done", ""));
  EXPECT_EQ(read("never done", {.cut = true}), said("never done", ""));
}

TEST(CohereText, BlankReasoningSaysNothing) {
  EXPECT_EQ(read(" \n <|END_THINKING|>\n<|START_TEXT|>a<|END_TEXT|>"), said("", "a"));
}

TEST(CohereText, NothingAfterThinking) {
  EXPECT_EQ(read("hm<|END_THINKING|>"), said("hm", ""));
  EXPECT_EQ(read("hm<|END_THINKING|>\n"), said("hm", ""));
}

TEST(CohereText, AnAnswerNeedsNoMarker) {
  EXPECT_EQ(read("hm<|END_THINKING|>\nbare answer<|END_OF_TURN_TOKEN|>"),
            said("hm", "bare answer"));
}

TEST(CohereText, TheTurnMayEndInsideTheAnswer) {
  EXPECT_EQ(read("hm<|END_THINKING|><|START_TEXT|>a<|END_OF_TURN_TOKEN|>junk"), said("hm", "a"));
}

TEST(CohereText, TextBetweenBlocksIsDropped) {
  EXPECT_EQ(
      read("x<|END_THINKING|><|START_TEXT|>a<|END_TEXT|> between <|START_TEXT|>b<|END_TEXT|>"),
      said("x", "ab"));
}

TEST(CohereText, UnknownMarkersAreText) {
  EXPECT_EQ(read("x<|END_THINKING|><|START_TEXT|>a <|TOOL_PLAN|> b<|END_TEXT|>"),
            said("x", "a <|TOOL_PLAN|> b"));
}

TEST(CohereText, AnUnknownMarkerIsNotHeldBack) {
  auto parser = make_parser(Dialect::kCmd4, StartMode::kContent);
  std::vector<DialectEvent> events;
  parser->feed("a <|TOOL_PLAN|>", &events);
  EXPECT_EQ(summarize(events).content, "a <|TOOL_PLAN|>");
}

TEST(CohereText, ALoneBracketComesOutAtTheEnd) {
  EXPECT_EQ(read("hello <", kAnswerStart), said("", "hello <"));
  EXPECT_EQ(read("hello <|START", kAnswerStart), said("", "hello <|START"));
  EXPECT_EQ(read("thought <|END_TH"), said("thought <|END_TH", ""));
  EXPECT_EQ(read("x<|END_THINKING|><|START_TEXT|>a <|END_TE"), said("x", "a <|END_TE"));
}

TEST(CohereText, AFragmentBetweenBlocksIsNoText) {
  EXPECT_EQ(read("x<|END_THINKING|><|START_TE"), said("x", ""));
}

TEST(CohereText, TagsOfOtherLanguagesAreText) {
  EXPECT_EQ(read("<b>1 < 2</b> <<|END_TEXT|>", kAnswerStart), said("", "<b>1 < 2</b> <"));
  EXPECT_EQ(read("<<|END_TEXT|>", kAnswerStart), said("", "<"));
  EXPECT_EQ(read("<|<|<|END_TEXT|>", kAnswerStart), said("", "<|<|"));
}

TEST(CohereText, CharactersStayWhole) {
  EXPECT_EQ(read("思考…<|END_THINKING|><|START_TEXT|>مرحبا 👋🏽 é<|END_TEXT|>"),
            said("思考…", "مرحبا 👋🏽 é"));
}

TEST(CohereText, ABrokenCharacterAtTheEndIsReleased) {
  auto parser = make_parser(Dialect::kCmd4, StartMode::kContent);
  std::vector<DialectEvent> events;
  parser->feed("a \xf0\x9f\x91", &events);
  EXPECT_EQ(summarize(events).content, "a");
  parser->finish(false, &events);
  EXPECT_EQ(summarize(events).content, "a \xf0\x9f\x91");
}

TEST(CohereText, BlanksAroundBlocksVanishAndInnerOnesStay) {
  EXPECT_EQ(read(" \n a  b\n\n<|END_THINKING|> \n<|START_TEXT|>\n  c\n\n  d \n<|END_TEXT|>\n"),
            said("a  b", "c\n\n  d"));
}

TEST(CohereText, ALimitKeepsTheLastBlanks) {
  EXPECT_EQ(read("one \n", {.start = StartMode::kContent, .cut = true}), said("", "one \n"));
  EXPECT_EQ(read("one \n", kAnswerStart), said("", "one"));
}

TEST(CohereText, AnAnswerThatIsGivenTwiceCountsOnce) {
  const std::string leak = "An answer: é.<|END_THINKING|>";
  for (const char* again : {"<|START_TEXT|>An answer: é.<|END_TEXT|>",
                            "\n<|START_TEXT|>\n An answer: é. \n<|END_TEXT|>", "An answer: é.", "",
                            "<|START_TEXT|>", "<|START_TEXT|>An answer: é.<|END_OF_TURN_TOKEN|>"}) {
    EXPECT_EQ(read(leak + again, kAnswerStart), said("", "An answer: é.")) << again;
  }
  const Reading cut{.start = StartMode::kContent, .cut = true};
  EXPECT_EQ(read(leak + "<|START_TEXT|>An ans", cut), said("", "An answer: é."));
}

TEST(CohereText, AnotherAnswerAfterALeakIsKept) {
  const std::string leak = "One<|END_THINKING|><|START_TEXT|>";
  EXPECT_EQ(read(leak + "One more<|END_TEXT|>", kAnswerStart), said("", "OneOne more"));
  EXPECT_EQ(read(leak + "On<|END_TEXT|>", kAnswerStart), said("", "OneOn"));
  EXPECT_EQ(read(leak + "Two<|END_TEXT|>", kAnswerStart), said("", "OneTwo"));
  // Only what stood before any marker can be a leak.
  EXPECT_EQ(read("hm<|END_THINKING|><|START_TEXT|>a<|END_TEXT|><|START_TEXT|>a<|END_TEXT|>"),
            said("hm", "aa"));
}

TEST(CohereText, AForcedEndOfThinkingIsOneOfTwo) {
  EXPECT_EQ(read("long<|END_THINKING|>so <|END_THINKING|><|START_TEXT|>yes<|END_TEXT|>"),
            said("long", "soyes"));
}

TEST(CohereText, JsonInReasoningStaysReasoning) {
  EXPECT_EQ(read("{\"a\": 1}<|END_THINKING|><|START_TEXT|>{\"a\": 2}<|END_TEXT|>"),
            said("{\"a\": 1}", "{\"a\": 2}"));
}

TEST(CohereText, BareJsonIsAnswer) {
  for (std::string json : {"{\"a\":[1]}", "[1]", "\"s\"", "1", "true", "null"}) {
    EXPECT_EQ(read("x<|END_THINKING|>" + json), said("x", json));
  }
}

TEST(CohereText, TextComesOutAsSoonAsItCan) {
  auto parser = make_parser(Dialect::kCmd4, StartMode::kContent);
  std::vector<DialectEvent> events;
  parser->feed("Hello", &events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "Hello");
  events.clear();
  parser->feed(" world", &events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, " world");
}

TEST(CohereText, TimeIsLinearInTheText) {
  // A quadratic parser would need hours for these.
  auto parser = make_parser(Dialect::kCmd4, StartMode::kContent);
  std::vector<DialectEvent> events;
  for (int i = 0; i < 2'000'000; ++i) parser->feed(i % 2 ? " " : "\n", &events);
  parser->feed("x", &events);
  for (int i = 0; i < 500'000; ++i) parser->feed("<|", &events);
  parser->finish(false, &events);
  EXPECT_EQ(summarize(events).content.size(), 1'000'001u);
}

}  // namespace
}  // namespace nmc
