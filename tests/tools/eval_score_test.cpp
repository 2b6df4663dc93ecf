#include "tools/eval/score.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nmc {
namespace {

const std::vector<int32_t> kTokens = {0, 1, 2};

TEST(Score, UniformLogitsHaveThePerplexityOfTheVocabulary) {
  Score score;
  score.add(kTokens, 0, std::vector<float>(3 * 5, 2.5f), 5);
  EXPECT_EQ(score.predictions(), 2);
  EXPECT_DOUBLE_EQ(score.perplexity(), 5);
  EXPECT_EQ(score.top1(), 0);  // of equals the lowest id, 0, is the choice
}

TEST(Score, PiecesAddUpToTheWhole) {
  const std::vector<float> logits = {0, 3, 1, /**/ 1, 2, 5, /**/ 9, 9, 9};
  Score whole, pieces, other;
  whole.add(kTokens, 0, logits, 3);
  pieces.add(kTokens, 0, std::span(logits).first(3), 3);
  other.add(kTokens, 1, std::span(logits).subspan(3), 3);
  pieces.add(other);
  EXPECT_EQ(whole.top1(), 1);
  EXPECT_EQ(pieces.predictions(), 2);
  EXPECT_DOUBLE_EQ(pieces.perplexity(), whole.perplexity());
  EXPECT_EQ(pieces.text(), whole.text());
}

TEST(Score, LargeLogitsDoNotOverflow) {
  Score score;
  score.add(kTokens, 1, std::vector<float>{-1e30f, 0, 1e30f}, 3);
  EXPECT_DOUBLE_EQ(score.perplexity(), 1);
}

TEST(Score, WithoutPredictionsThereIsNoNumber) {
  EXPECT_TRUE(std::isnan(Score().perplexity()));
  EXPECT_EQ(Score().text(), "0 predictions");
}

}  // namespace
}  // namespace nmc
