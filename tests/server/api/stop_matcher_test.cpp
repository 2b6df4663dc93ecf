#include "server/api/stop_matcher.h"

#include <gtest/gtest.h>

#include "server/api/visible_text.h"

namespace nmc::test {
namespace {

using api::StopMatcher;
using api::VisibleText;

// What is shown when `text` arrives in pieces of `size` bytes.
std::string shown(std::vector<std::string> stops, const std::string& text, size_t size) {
  StopMatcher matcher(std::move(stops));
  std::string out;
  for (size_t i = 0; i < text.size(); i += size) out += matcher.push(text.substr(i, size));
  return out + matcher.flush();
}

TEST(StopMatcher, TheCutsDoNotMatter) {
  for (size_t size = 1; size < 12; ++size) {
    EXPECT_EQ(shown({"STOP"}, "abSTOPcd", size), "ab");
    EXPECT_EQ(shown({"STOP"}, "abSTOcd", size), "abSTOcd");
    EXPECT_EQ(shown({"STOP", "bST"}, "abSTOP", size), "a");
    EXPECT_EQ(shown({"aab"}, "aaab", size), "a");
    EXPECT_EQ(shown({"\n\n"}, "x\ny\n\nz", size), "x\ny");
    EXPECT_EQ(shown({"end"}, "the en", size), "the en");
    EXPECT_EQ(shown({}, "text", size), "text");
  }
}

TEST(StopMatcher, HoldsBackNoMoreThanItMust) {
  StopMatcher matcher({"STOP"});
  EXPECT_EQ(matcher.push("abST"), "ab");
  EXPECT_EQ(matcher.push("x"), "STx");
  EXPECT_EQ(matcher.push("S"), "");
  EXPECT_EQ(matcher.push("TOP and more"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.push("more"), "");
}

TEST(VisibleText, TokensComeWithTheirFirstByte) {
  VisibleText text({"STOP"}, true);
  EXPECT_EQ(text.push({1, 0, {}}, "a").tokens.size(), 1u);
  EXPECT_EQ(text.push({2, 0, {}}, "").tokens.size(), 0u);  // half a character
  auto piece = text.push({3, 0, {}}, "\xc3\xa9");
  EXPECT_EQ(piece.text, "\xc3\xa9");
  ASSERT_EQ(piece.tokens.size(), 2u);
  EXPECT_EQ(piece.tokens[0].token, 2);
  EXPECT_EQ(text.push({4, 0, {}}, "ST").tokens.size(), 0u);
  EXPECT_EQ(text.push({5, 0, {}}, "OPx").tokens.size(), 0u);
  EXPECT_TRUE(text.stopped());
  EXPECT_TRUE(text.flush().tokens.empty());
}

TEST(VisibleText, ForgetsTokensWithoutText) {
  VisibleText text({}, true);
  text.push({1, 0, {}}, "");
  text.drop_textless();
  auto piece = text.push({2, 0, {}}, "a");
  ASSERT_EQ(piece.tokens.size(), 1u);
  EXPECT_EQ(piece.tokens[0].token, 2);
}

}  // namespace
}  // namespace nmc::test
