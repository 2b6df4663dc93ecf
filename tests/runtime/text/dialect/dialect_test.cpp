#include "runtime/text/dialect/dialect.h"

#include <gtest/gtest.h>

namespace nmc {
namespace {

bool no_token(std::string_view) {
  return false;
}

TEST(DetectDialect, ByTheMarkersOfTheTemplate) {
  EXPECT_EQ(detect_dialect("x<|START_TEXT|>y<|START_ACTION|>", no_token), Dialect::kCmd4);
  EXPECT_EQ(detect_dialect("<|START_RESPONSE|><|START_ACTION|>", no_token), Dialect::kCmd3);
  EXPECT_EQ(detect_dialect("<|im_start|> <tool_call>", no_token), Dialect::kHermes);
  EXPECT_EQ(detect_dialect("split('</think>')", no_token), Dialect::kHermes);
  EXPECT_EQ(detect_dialect("<|im_start|>", no_token), Dialect::kPlain);
}

TEST(DetectDialect, ByTheVocabularyWithoutATemplate) {
  auto has = [](std::string_view token) {
    return token == "<|START_TEXT|>" || token == "<|START_ACTION|>";
  };
  EXPECT_EQ(detect_dialect("", has), Dialect::kCmd4);
  EXPECT_EQ(detect_dialect("{{ messages }}", has), Dialect::kPlain);
  EXPECT_EQ(detect_dialect("", nullptr), Dialect::kPlain);
}

TEST(StartMode, FollowsTheLastTurnOfThePrompt) {
  std::string turn = "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>";
  std::string think = "<|START_THINKING|>", end = "<|END_THINKING|>";
  EXPECT_EQ(start_mode(Dialect::kCmd4, turn + think), StartMode::kReasoning);
  EXPECT_EQ(start_mode(Dialect::kCmd4, turn + think + end), StartMode::kContent);
  EXPECT_EQ(start_mode(Dialect::kCmd4, turn), StartMode::kContent);
  EXPECT_EQ(start_mode(Dialect::kCmd4, think + turn), StartMode::kContent);
  EXPECT_EQ(start_mode(Dialect::kCmd4, turn + think + end + "a" + turn + think),
            StartMode::kReasoning);
  EXPECT_EQ(start_mode(Dialect::kCmd3, turn), StartMode::kContent);
}

TEST(StartMode, HermesLooksAtTheVeryEnd) {
  EXPECT_EQ(start_mode(Dialect::kHermes, "<|im_start|>assistant\n<think>\n"),
            StartMode::kReasoning);
  EXPECT_EQ(start_mode(Dialect::kHermes, "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
            StartMode::kContent);
  EXPECT_EQ(start_mode(Dialect::kHermes, "<|im_start|>assistant\n"), StartMode::kContent);
  EXPECT_EQ(start_mode(Dialect::kHermes, ""), StartMode::kContent);
  EXPECT_EQ(start_mode(Dialect::kPlain, "<think>"), StartMode::kContent);
}

TEST(Dialect, Names) {
  EXPECT_STREQ(to_string(Dialect::kCmd4), "cmd4");
  EXPECT_STREQ(to_string(Dialect::kPlain), "plain");
}

}  // namespace
}  // namespace nmc
