#include <gtest/gtest.h>

#include <map>

#include "runtime/text/grammar/counted_text.h"
#include "runtime/text/grammar/local_mask.h"
#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

TEST(Mask, EqualsItsDefinitionEverywhere) {
  auto grammar = make_grammar([](GrammarBuilder&, JsonRules& rules) { return rules.value(); });
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    std::string text = random_text(grammar, random, 25);
    for (size_t cut = 0; cut <= text.size(); cut += 1 + random() % 4) {
      std::string prefix = text.substr(0, cut);
      ASSERT_EQ(mask_after(grammar, prefix), mask_by_definition(grammar, prefix)) << prefix;
    }
  }
}

TEST(Mask, SpecialTokensAreNeverText) {
  auto grammar = make_grammar([](GrammarBuilder&, JsonRules& rules) { return rules.string(); });
  GrammarMatcher m(grammar);
  ASSERT_EQ(m.accept_bytes("\"ab"), 3u);
  std::vector<uint32_t> mask(test_vocabulary()->trie().mask_words());
  m.fill_mask(mask);
  EXPECT_FALSE(is_allowed(mask, kTestSpecial));
  EXPECT_FALSE(m.accept_token(kTestSpecial));
}

TEST(Mask, ASpecialTokenCanBeAskedFor) {
  auto grammar = make_grammar([](GrammarBuilder& b, JsonRules&) {
    return b.sequence({b.literal("x"), b.literal(special_spelling(kTestSpecial))});
  });
  GrammarMatcher m(grammar);
  EXPECT_TRUE(m.accept_token('x'));
  EXPECT_FALSE(m.accept_token('y'));
  EXPECT_TRUE(m.accept_token(kTestSpecial));
  EXPECT_TRUE(m.must_end());
}

TEST(Mask, LongCountedStringsShareMasksAndStayExact) {
  auto grammar = make_grammar([](GrammarBuilder& b, JsonRules& rules) {
    return b.sequence(
        {b.literal("\""), b.repeat(rules.any_character(), 600, 1200), b.literal("\"")});
  });
  auto text = [](size_t n) { return "\"" + std::string(n, 'a') + "\""; };
  EXPECT_FALSE(accepts(grammar, text(599)));
  EXPECT_TRUE(accepts(grammar, text(600)));
  EXPECT_TRUE(accepts(grammar, text(1200)));
  EXPECT_FALSE(accepts(grammar, text(1201)));
  for (size_t n : {0, 343, 344, 598, 599, 600, 1197, 1199, 1200}) {
    std::string prefix = "\"" + std::string(n, 'a');
    EXPECT_EQ(mask_after(grammar, prefix), mask_by_definition(grammar, prefix)) << n;
  }
}

TEST(Mask, VeryLongCountedStringsAreExact) {
  for (const auto& [min, max] : {std::pair{0, 9'216}, {0, 10'000}, {3, 20'000}}) {
    auto grammar = make_grammar([&](GrammarBuilder& b, JsonRules& rules) {
      return b.sequence({b.literal("\""), counted_text(b, "characters", rules.any_character(), min,
                                                       max, b.literal("\""))});
    });
    for (int n : {0, 2, 3, 1023, 1024, 1025, 9'215, 9'216, 9'217, 9'999, 10'000, 10'001, 19'999,
                  20'000, 20'001}) {
      const std::string text = "\"" + std::string(static_cast<size_t>(n), 'a') + "\"";
      EXPECT_EQ(accepts(grammar, text), n >= min && n <= max)
          << n << " of " << min << " to " << max;
      if (n > max || (n > 1025 && (n < max - 1 || max > 9'216))) continue;
      const std::string open = text.substr(0, text.size() - 1);
      EXPECT_EQ(mask_after(grammar, open), mask_by_definition(grammar, open)) << n;
    }
  }
}

TEST(Trie, HoldsEveryTokenOnceInDepthFirstOrder) {
  std::vector<std::string> spellings = {"b", "ab", "a", "", "abc", "a", "b"};
  TokenTrie trie(spellings);
  std::vector<int32_t> seen;
  for (uint32_t n = 0; n + 1 < trie.nodes().size(); ++n)
    trie.tokens_at(n, [&](int32_t t) { seen.push_back(t); });
  EXPECT_EQ(seen, (std::vector<int32_t>{2, 5, 1, 4, 0, 6}));
  EXPECT_EQ(trie.nodes()[0].end, 5u);  // root, a, ab, abc, b
}

TEST(Mask, GrammarsShareTheMasksOfJsonRules) {
  for (bool open : {true, false}) {
    auto grammar = make_grammar([&](GrammarBuilder& b, JsonRules& rules) {
      if (open) b.rule("shifts every state", b.literal("some text"));
      return rules.list('[', rules.string(), 0, 3, ']');
    });
    for (std::string prefix : {"[", "[\"", "[\"a", "[\"\\", "[\"\\u00", "[\"a\""}) {
      EXPECT_EQ(mask_after(grammar, prefix), mask_by_definition(grammar, prefix)) << prefix;
    }
  }
}

TEST(Trie, KnowsWhereOnlyPlainTextFollows) {
  std::vector<std::string> spellings = {"ab", "abc", "x\"", "y\xc3\xa9", "z\xc3"};
  TokenTrie trie(spellings);
  std::map<char, bool> plain;
  for (uint32_t n = 1; n + 1 < trie.nodes().size(); n = trie.nodes()[n].end)
    plain[static_cast<char>(trie.nodes()[n].byte)] = trie.nodes()[n].plain_below;
  EXPECT_EQ(plain, (std::map<char, bool>{{'a', true}, {'x', false}, {'y', true}, {'z', false}}));
}

}  // namespace
}  // namespace nmc
