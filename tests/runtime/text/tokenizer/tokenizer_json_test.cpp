// Malformed and hostile tokenizer files: a sentence that names the place, never a crash.
#include "runtime/text/tokenizer/tokenizer_json.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/tokenizer/fixture.h"

namespace nmc {
namespace {

std::string file_error(std::string_view text) {
  auto r = tok::read_tokenizer_json(text);
  return r.ok() ? "" : r.status().message();
}

TEST(TokenizerJson, SeparatesTheBigPartsFromTheRest) {
  auto r = tok::read_tokenizer_json(
      R"({"model":{"merges":["a b",["c","d"]],"type":"BPE","vocab":{"a":1}},"x":[{"vocab":{"y":2}}]})");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(dump_json(r->rest), R"({"model":{"type":"BPE"},"x":[{"vocab":{"y":2}}]})");
  ASSERT_EQ(r->vocab.size(), 1u);
  EXPECT_EQ(r->vocab[0].text, "a");
  ASSERT_EQ(r->merges.size(), 2u);
  EXPECT_EQ(r->merges[1].second, "d");
}

TEST(TokenizerJson, NamesTheMergeThatIsWrong) {
  const char* bad[] = {R"(["a"])",  R"(["a b c"])", R"([["a"]])",   R"([["a","b","c"]])",
                       R"([1])",    R"([{}])",      R"([["a",1]])", R"([[["a"],"b"]])",
                       R"([null])", R"([[]])"};
  for (const char* merges : bad) {
    std::string text = std::string(R"({"model":{"merges":)") + merges + "}}";
    EXPECT_EQ(file_error(text),
              "tokenizer.json: \"model.merges[0]\" must be two tokens, as \"a b\" or as [\"a\", "
              "\"b\"]")
        << merges;
  }
}

TEST(TokenizerJson, IdsAreIntegers) {
  for (const char* id : {"\"1\"", "1.5", "null", "true", "[]", "{}"}) {
    std::string text = std::string(R"({"model":{"vocab":{"a":)") + id + "}}}";
    EXPECT_NE(file_error(text).find("integer"), std::string::npos) << id;
  }
}

TEST(TokenizerJson, RefusesBrokenTextAndBombs) {
  EXPECT_NE(file_error("{\"a\":").find("error at byte"), std::string::npos);
  EXPECT_NE(file_error("").find("not valid JSON"), std::string::npos);
  EXPECT_NE(file_error("{\"a\":\"\xff\"}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(file_error("[]").find("must be an object"), std::string::npos);
  EXPECT_NE(file_error(std::string(1'000'000, '[')).find("nests deeper"), std::string::npos);
  std::string wide = "{";
  for (int i = 0; i < 2000; ++i) wide += "\"" + std::to_string(i) + "\":0,";
  EXPECT_NE(file_error(wide + "\"x\":0}").find("more than 1000 keys"), std::string::npos);
}

TEST(TokenizerJson, EveryPrefixOfAFileIsAnErrorWithASentence) {
  std::string text = source_file(fixture_path("qwen"));
  for (size_t n = 0; n + 2 < text.size(); n += 7) {
    std::string error = load_error(text.substr(0, n));
    ASSERT_GT(error.size(), 20u) << n;
  }
}

TEST(TokenizerJson, ABigVocabularyIsReadInLinearTime) {
  std::string text = R"({"model":{"vocab":{)";
  for (int i = 0; i < 300'000; ++i)
    text += (i ? ",\"t" : "\"t") + std::to_string(i) + "\":" + std::to_string(i);
  auto r = tok::read_tokenizer_json(text + "}}}");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->vocab.size(), 300'000u);
}

TEST(TokenizerConfig, NamesItsFields) {
  std::string json = dump_json(small_json());
  EXPECT_EQ(load_error(json, "{\"bos_token\":7}"),
            "tokenizer_config.json: the field \"bos_token\" must be a string, not number");
  EXPECT_NE(load_error(json, "[]").find("must be an object"), std::string::npos);
  EXPECT_NE(load_error(json, R"({"added_tokens_decoder":{"x":{"content":"a"}}})")
                .find("added_tokens_decoder[\"x\"]: the key must be an id"),
            std::string::npos);
  EXPECT_EQ(load_error("", "{}"), "the checkpoint has neither tokenizer.json nor tokenizer.model");
}

}  // namespace
}  // namespace nmc
