#include "tests/runtime/text/grammar/grammar_cases.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

class Cases : public testing::TestWithParam<GrammarCase> {
 protected:
  std::shared_ptr<Grammar> compile() {
    GrammarBuilder b;
    auto root = GetParam().build(b);
    EXPECT_TRUE(root.ok()) << root.status().message();
    auto grammar = Grammar::compile(b, *root, test_vocabulary());
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    return *grammar;
  }
};

TEST_P(Cases, TheirTextsFit) {
  auto grammar = compile();
  for (const std::string& text : GetParam().texts) EXPECT_TRUE(accepts(grammar, text)) << text;
}

TEST_P(Cases, TheirMasksEqualTheDefinition) {
  auto grammar = compile();
  std::mt19937 random(3);
  for (const std::string& text : GetParam().texts) {
    for (size_t cut = 0; cut <= text.size(); cut += 1 + random() % 12) {
      const std::string prefix = text.substr(0, cut);
      EXPECT_EQ(mask_after(grammar, prefix), mask_by_definition(grammar, prefix)) << prefix;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grammar, Cases, testing::ValuesIn(grammar_cases()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace nmc
