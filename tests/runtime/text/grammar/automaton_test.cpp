#include "runtime/text/grammar/automaton.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

TEST(Grammar, SequencesChoicesAndCounts) {
  auto g = make_grammar([](GrammarBuilder& b, JsonRules&) {
    return b.sequence({b.literal("a"), b.repeat(b.choice({b.literal("bc"), b.literal("d")}), 1, 3),
                       b.optional(b.literal("e"))});
  });
  for (const char* yes : {"abc", "ad", "adbcd", "adde"}) EXPECT_TRUE(accepts(g, yes)) << yes;
  for (const char* no : {"", "a", "ab", "adddd", "abce "}) EXPECT_FALSE(accepts(g, no)) << no;
}

TEST(Grammar, RecursionNests) {
  GrammarBuilder b;
  RuleId r = b.declare("pair");
  b.define(r, b.choice({b.sequence({b.literal("("), b.call(r), b.literal(")")}), b.literal("x")}));
  auto g = Grammar::compile(b, r, test_vocabulary());
  ASSERT_TRUE(g.ok());
  std::string deep = std::string(3000, '(') + "x" + std::string(3000, ')');
  EXPECT_TRUE(accepts(*g, deep));
  EXPECT_FALSE(accepts(*g, deep + ")"));
}

TEST(Grammar, LeftRecursionIsRefusedByName) {
  GrammarBuilder b;
  RuleId r = b.declare("expr");
  RuleId maybe = b.rule("maybe", b.optional(b.literal("-")));
  b.define(r, b.choice({b.sequence({b.call(maybe), b.call(r), b.literal("+")}), b.literal("1")}));
  auto g = Grammar::compile(b, r, test_vocabulary());
  ASSERT_FALSE(g.ok());
  EXPECT_NE(g.status().message().find("\"expr\""), std::string::npos);
}

TEST(Grammar, AGrammarWithoutFiniteTextIsRefused) {
  GrammarBuilder b;
  RuleId r = b.declare("endless");
  b.define(r, b.sequence({b.literal("a"), b.call(r)}));
  EXPECT_FALSE(Grammar::compile(b, r, test_vocabulary()).ok());
}

TEST(Grammar, ATooLargeGrammarIsRefusedNotBuilt) {
  GrammarBuilder b;
  ExprId e = b.literal("ab");
  for (int i = 0; i < 12; ++i) e = b.repeat(e, 9, 9);
  auto g = Grammar::compile(b, b.rule("root", e), test_vocabulary());
  ASSERT_FALSE(g.ok());
  EXPECT_NE(g.status().message().find("too large"), std::string::npos);
}

TEST(Grammar, KeepOnlyPreservesTheFuture) {
  GrammarBuilder b;
  JsonRules rules(b);
  auto machine = compile_machine(b, b.rule("root", rules.value()));
  ASSERT_TRUE(machine.ok());
  Automaton a(std::make_shared<const Machine>(std::move(*machine)));
  SetId set = a.start(a.machine().rule_start[a.machine().root]);
  std::string text = R"({"a": [1, {"b": ["x)";
  for (char c : text) set = a.step(set, static_cast<uint8_t>(c));
  ASSERT_NE(set, kDeadSet);
  size_t before = a.size();
  set = a.keep_only(set);
  EXPECT_LT(a.size(), before);
  for (char c : std::string("\"]}]}")) {
    ASSERT_NE(set, kDeadSet);
    set = a.step(set, static_cast<uint8_t>(c));
  }
  ASSERT_NE(set, kDeadSet);
  EXPECT_TRUE(a.ended(set));
}

TEST(Utf8, RangesCoverExactlyTheirCharacters) {
  const CodePoints ranges[] = {{0x41, 0x5a},       {0x7f, 0x81},        {0x7fe, 0x802},
                               {0x3b1, 0x3c9},     {0xd7fe, 0xe001},    {0xffff, 0x10001},
                               {0x1f600, 0x1f64f}, {0x10fffe, 0x10ffff}};
  for (CodePoints r : ranges) {
    auto g = make_grammar([&](GrammarBuilder& b, JsonRules&) { return utf8_character(b, {r}); });
    for (uint32_t c = r.low > 3 ? r.low - 3 : 0; c <= r.high + 3 && c <= 0x10ffff; ++c) {
      if (c >= 0xd800 && c <= 0xdfff) continue;
      std::string s;
      if (c < 0x80)
        s = {static_cast<char>(c)};
      else if (c < 0x800)
        s = {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
      else if (c < 0x10000)
        s = {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
             static_cast<char>(0x80 | (c & 63))};
      else
        s = {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
             static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
      EXPECT_EQ(accepts(g, s), c >= r.low && c <= r.high) << std::hex << c;
    }
  }
}

}  // namespace
}  // namespace nmc
