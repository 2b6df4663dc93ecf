#include "runtime/text/grammar/choice.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

std::shared_ptr<Grammar> grammar_of(const std::vector<std::string>& choices) {
  return make_grammar([&](GrammarBuilder& b, JsonRules&) {
    auto made = choice_expression(b, choices);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  });
}

TEST(Choice, TakesEachAndNothingElse) {
  const std::vector<std::string> choices = {"yes", "no", "not at all", "note", "né", "y", "\"{"};
  auto grammar = grammar_of(choices);
  for (const std::string& choice : choices) EXPECT_TRUE(accepts(grammar, choice)) << choice;
  for (const char* other : {"", "n", "ye", "yess", "not", "nö", "noté", "\""})
    EXPECT_FALSE(accepts(grammar, other)) << other;
}

TEST(Choice, RandomTextsAreChoices) {
  const std::vector<std::string> choices = {"true", "tr", "abc", "ab", "2024-05"};
  auto grammar = grammar_of(choices);
  std::mt19937 random(3);
  std::map<std::string, int> seen;
  for (int i = 0; i < 200; ++i) ++seen[random_text(grammar, random, 1 + i % 5)];
  EXPECT_EQ(seen.size(), choices.size());
  for (const std::string& choice : choices) EXPECT_GT(seen[choice], 0) << choice;
}

TEST(Choice, ManyLongOnesCompile) {
  std::vector<std::string> choices;
  for (int i = 0; i < 2000; ++i) choices.push_back(std::string(60, 'x') + std::to_string(i) + "!");
  auto grammar = grammar_of(choices);
  ASSERT_NE(grammar, nullptr);
  EXPECT_TRUE(accepts(grammar, choices[1234]));
  EXPECT_FALSE(accepts(grammar, std::string(60, 'x') + "2000!"));
}

TEST(Choice, NamesTheOneThatIsWrong) {
  GrammarBuilder b;
  EXPECT_EQ(choice_expression(b, {}).status().message(), "there is nothing to choose from");
  EXPECT_EQ(choice_expression(b, {"a", ""}).status().message(), "choice 1 is empty");
  EXPECT_EQ(choice_expression(b, {"a", "b", "a"}).status().message(),
            "choice 2 repeats an earlier one");
}

}  // namespace
}  // namespace nmc
