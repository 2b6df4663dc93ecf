#include "runtime/text/grammar/gbnf.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

Result<std::shared_ptr<Grammar>> compile_gbnf(std::string_view text) {
  GrammarBuilder b;
  NMC_ASSIGN(RuleId root, parse_gbnf(b, text));
  return Grammar::compile(b, root, test_vocabulary());
}

TEST(Gbnf, ArithmeticWithCommentsAndLineBreaks) {
  auto g = compile_gbnf(R"gbnf(# sums
root  ::= term ("+" term)*   # no left recursion
term  ::= number |
          "(" root ")"
number ::= [0-9]+ ("." [0-9]{1,2})?
)gbnf");
  ASSERT_TRUE(g.ok()) << g.status().message();
  for (const char* yes : {"1", "12+(3.4+5)", "((1))"}) EXPECT_TRUE(accepts(*g, yes)) << yes;
  for (const char* no : {"", "1+", "1.234", "(1"}) EXPECT_FALSE(accepts(*g, no)) << no;
}

TEST(Gbnf, EscapesClassesAndUnicode) {
  auto g = compile_gbnf("root ::= \"\\x41\\u00e9\\n\" [^a-z\\]] [α-ω]{2,} .");
  ASSERT_TRUE(g.ok()) << g.status().message();
  EXPECT_TRUE(accepts(*g, "Aé\nZαβ!"));
  EXPECT_FALSE(accepts(*g, "Aé\nzαβ!"));
  EXPECT_FALSE(accepts(*g, "Aé\n]αβ!"));
}

TEST(Gbnf, MistakesNameTheLine) {
  for (auto [text, part] : {std::pair{"root ::= \"a", "not closed in line 1"},
                            {"root ::= (\"a\"\nx ::= \"b\"", "line"},
                            {"root ::= missing", "\"missing\""},
                            {"x ::= \"a\"", "no rule \"root\""},
                            {"root ::= \"a\"\nroot ::= \"b\"", "twice in line 2"},
                            {"root ::= \"a\"{3,1}", "out of order"},
                            {"root ::= [z-a]", "out of order"},
                            {"root = \"a\"", "::="},
                            {"root ::= \"a\" )", "goes on"}}) {
    auto g = compile_gbnf(text);
    ASSERT_FALSE(g.ok()) << text;
    EXPECT_NE(g.status().message().find(part), std::string::npos) << g.status().message();
  }
}

}  // namespace
}  // namespace nmc
