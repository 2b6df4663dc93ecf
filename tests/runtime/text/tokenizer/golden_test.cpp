// Our ids against those of @huggingface/tokenizers (oracle/run --update wrote the files).
#include <gtest/gtest.h>

#include "tests/runtime/text/tokenizer/fixture.h"

namespace nmc {
namespace {

struct Case {
  const char* name;
  const char* tokenizer;
};

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, SameIdsAsTheOracle) {
  auto tokenizer = load(source_file(GetParam().tokenizer));
  ASSERT_TRUE(tokenizer);
  auto rows = parse_json(
      source_file(std::string("tests/runtime/text/tokenizer/golden/") + GetParam().name + ".json"),
      "golden");
  ASSERT_TRUE(rows.ok());
  ASSERT_GE(rows->size(), 100u);
  for (const Json& row : *rows) {
    auto text = row[0].get<std::string>();
    EXPECT_EQ(tokenizer->encode_with_bos(text, true), row[1].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->encode(text, false), row[2].get<Ids>()) << text;
  }
}

constexpr Case kCases[] = {
    {"llama3", "tests/runtime/text/tokenizer/fixtures/llama3.json"},
    {"gpt2", "tests/runtime/text/tokenizer/fixtures/gpt2.json"},
    {"qwen", "tests/runtime/text/tokenizer/fixtures/qwen.json"},
    {"command_r", "tests/runtime/text/tokenizer/fixtures/command_r.json"},
    {"nano", "models/cohere2moe-nano/tokenizer.json"},
    {"tiny", "tests/golden/cohere2moe-tiny/tokenizer.json"},
};

INSTANTIATE_TEST_SUITE_P(Families, Golden, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace nmc
