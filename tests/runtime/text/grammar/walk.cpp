#include "tests/runtime/text/grammar/walk.h"

#include <gtest/gtest.h>

#include "runtime/text/grammar/local_mask.h"

namespace nmc {

std::shared_ptr<const GrammarVocabulary> test_vocabulary() {
  static const auto vocabulary = [] {
    std::vector<std::string> spellings(0x1002);
    for (int b = 0; b < 256; ++b)
      spellings[static_cast<size_t>(b)] = std::string(1, static_cast<char>(b));
    const char* pieces[] = {"{\"",
                            "\":",
                            "\": ",
                            "\", \"",
                            "\"}",
                            "\"}}",
                            "\"]",
                            "[{",
                            "}]",
                            "}}",
                            ", ",
                            "  ",
                            "\n    ",
                            "true",
                            "false",
                            "null",
                            "tr",
                            "ue",
                            "12",
                            "123",
                            "0.",
                            ".5",
                            "-1",
                            "e+",
                            "abc",
                            "name",
                            "\\u00",
                            "\\n",
                            "\\\"",
                            "é",
                            "\xf0\x9f",
                            "\x98\x80",
                            "\xf0\x9f\x98\x80",
                            "a\": [",
                            "id\"",
                            "tool",
                            "\"tool_name\"",
                            "\"parameters\": {",
                            "ab",
                            "b\"",
                            "b\",",
                            "2024",
                            "2024-0"};
    size_t id = 256;
    for (const char* p : pieces) spellings[id++] = p;
    spellings[kTestSpecial] = special_spelling(kTestSpecial);
    return std::make_shared<const GrammarVocabulary>(spellings, std::vector<int32_t>{kTestEnd});
  }();
  return vocabulary;
}

bool accepts(const std::shared_ptr<Grammar>& grammar, std::string_view text) {
  GrammarMatcher m(grammar);
  return m.accept_bytes(text) == text.size() && m.can_end();
}

std::vector<uint32_t> mask_after(const std::shared_ptr<Grammar>& grammar, std::string_view text) {
  GrammarMatcher m(grammar);
  EXPECT_EQ(m.accept_bytes(text), text.size()) << text;
  std::vector<uint32_t> mask(test_vocabulary()->trie().mask_words());
  m.fill_mask(mask);
  return mask;
}

std::vector<uint32_t> mask_by_definition(const std::shared_ptr<Grammar>& grammar,
                                         std::string_view text) {
  const TokenTrie& trie = test_vocabulary()->trie();
  std::vector<uint32_t> mask(trie.mask_words(), 0);
  GrammarMatcher m(grammar);
  m.accept_bytes(text);
  if (m.can_end()) allow_token(mask, kTestEnd);
  for (int32_t t = 0; t < static_cast<int32_t>(trie.vocab_size()); ++t) {
    if (trie.spelling(t).empty()) continue;
    GrammarMatcher next(grammar);
    next.accept_bytes(text);
    if (next.accept_token(t)) allow_token(mask, t);
  }
  return mask;
}

std::string random_text(const std::shared_ptr<Grammar>& grammar, std::mt19937& random,
                        int patience) {
  const TokenTrie& trie = test_vocabulary()->trie();
  GrammarMatcher m(grammar);
  std::string text;
  std::vector<uint32_t> mask(trie.mask_words());
  for (int step = 0; step < 4000; ++step) {
    m.fill_mask(mask);
    std::vector<int32_t> allowed;
    for (int32_t t = 0; t < static_cast<int32_t>(trie.vocab_size()); ++t) {
      if (is_allowed(mask, t)) allowed.push_back(t);
    }
    EXPECT_FALSE(allowed.empty()) << "a dead end after " << text;
    if (allowed.empty()) return text;
    EXPECT_EQ(is_allowed(mask, kTestEnd), m.can_end());
    if (m.must_end() || (m.can_end() && (step > patience || random() % 4 == 0))) return text;
    std::erase(allowed, kTestEnd);
    // When patience ends, only characters that close something are drawn.
    int32_t token = allowed[random() % allowed.size()];
    if (step > patience) {
      std::vector<int32_t> closing;
      for (char c : std::string("\"}]),:0bc")) {
        if (is_allowed(mask, static_cast<uint8_t>(c))) closing.push_back(static_cast<uint8_t>(c));
      }
      if (!closing.empty()) token = closing[random() % closing.size()];
    }
    EXPECT_TRUE(m.accept_token(token)) << "after " << text << " token " << token;
    text += trie.spelling(token);
  }
  ADD_FAILURE() << "no end: " << text.substr(0, 200);
  return text;
}

}  // namespace nmc
