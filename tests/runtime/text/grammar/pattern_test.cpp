// Regular expressions over whole plain texts; those inside of JSON stand in schema_test.cpp.
#include "runtime/text/grammar/pattern.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

std::shared_ptr<Grammar> pattern_grammar(std::string_view pattern) {
  return make_grammar([&](GrammarBuilder& b, JsonRules&) {
    auto made = text_pattern_expression(b, pattern);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  });
}

TEST(TextPattern, TheWholeTextMatches) {
  for (const char* pattern : {"a+b", "^a+b", "a+b$", "^a+b$"}) {
    auto grammar = pattern_grammar(pattern);
    EXPECT_TRUE(accepts(grammar, "aab")) << pattern;
    for (const char* other : {"", "a", "xab", "abx", "aabb"})
      EXPECT_FALSE(accepts(grammar, other)) << pattern << " " << other;
  }
}

TEST(TextPattern, CharactersStandForThemselves) {
  auto grammar = pattern_grammar(R"(["\\\n]é.)");
  EXPECT_TRUE(accepts(grammar, "\"éx"));
  EXPECT_FALSE(accepts(grammar, "\nééx"));
  EXPECT_TRUE(accepts(grammar, "\né\"")) << "a quote is no end here";
  EXPECT_FALSE(accepts(grammar, "\\\"éx")) << "and nothing is escaped";
}

TEST(TextPattern, SaysWhatIsWrong) {
  GrammarBuilder b;
  EXPECT_NE(text_pattern_expression(b, "a(b").status().message().find("parenthesis"),
            std::string::npos);
}

TEST(CountedClass, IsFoundBetweenAnchorsOnly) {
  for (const char* pattern : {"^[a-z]{1,8}$", "^.*$", "^\\d+$", "^x$", "^[^\\n]{3,}$"})
    EXPECT_TRUE(counted_class(pattern)) << pattern;
  for (const char* pattern : {"[a-z]{1,8}", "^[a-z]{1,8}", "a$", "^ab$", "^(ab){2}$", "^a|b$", "^$",
                              "^[a-z]?[a-z]$", "^(?=a)$", "^a{2}{3}$"})
    EXPECT_FALSE(counted_class(pattern)) << pattern;
}

TEST(CountedClass, BothAskForTheNarrower) {
  const CountedClass both = *counted_class("^[^\\n\\r]*$") & *counted_class("^[\\s\\S]{0,300}$");
  EXPECT_EQ(both.min, 0);
  EXPECT_EQ(both.max, 300);
  const auto again = counted_class(both.pattern());
  ASSERT_TRUE(again) << both.pattern();
  EXPECT_EQ(again->pattern(), both.pattern());
  EXPECT_EQ((*counted_class("^[a-m-]+$") & *counted_class("^[\\]k-zé\\-]{2}$")).pattern(),
            "^[\\--\\-k-m]{2,2}$");
}

}  // namespace
}  // namespace nmc
