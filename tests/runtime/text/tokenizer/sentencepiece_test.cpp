// The expected ids are those of spm_encode on the same models (fixtures/make_sentencepiece).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/tokenizer/sentencepiece_model.h"
#include "tests/runtime/text/tokenizer/fixture.h"

namespace nmc {
namespace {

using testing::ElementsAre;

std::string model_bytes(const std::string& name) {
  return source_file("tests/runtime/text/tokenizer/fixtures/" + name + ".model");
}

Result<std::unique_ptr<Tokenizer>> open(std::string bytes, std::string config = "") {
  TokenizerFiles files;
  files.sentencepiece_model = std::move(bytes);
  files.tokenizer_config_json = std::move(config);
  return load_tokenizer(files);
}

std::unique_ptr<Tokenizer> load_model(const std::string& name, std::string config = "") {
  auto r = open(model_bytes(name), std::move(config));
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? std::move(r).value() : nullptr;
}

const char* const kText = "Hello world 42 <s>  x = [1]";

TEST(SentencePiece, EncodesAsTheLibrary) {
  auto llama = load_model("llama");
  ASSERT_TRUE(llama);
  EXPECT_THAT(llama->encode(kText, false),
              ElementsAre(325, 75, 264, 332, 329, 263, 260, 332, 341, 325, 365, 343, 292, 330, 374,
                          325, 325, 356, 325, 373, 319, 340, 354));
  auto gemma = load_model("gemma");
  ASSERT_TRUE(gemma);
  EXPECT_THAT(gemma->encode("it's über 你好 🎉", false),
              ElementsAre(333, 326, 346, 329, 324, 380, 350, 264, 324, 513, 514, 324, 429));
}

TEST(SentencePiece, TextComesBack) {
  for (const char* name : {"llama", "gemma"}) {
    auto t = load_model(name);
    ASSERT_TRUE(t);
    for (const char* text : {kText, "  leading", "\n\ttabs", "ÅÄ 你 \xf0\x9f\xa6\x86", ""}) {
      EXPECT_EQ(t->decode(t->encode(text, false)), text) << name;
    }
    // Invalid bytes are read as U+FFFD.
    EXPECT_EQ(t->decode(t->encode("a\xff", false)), "a\xef\xbf\xbd") << name;
  }
}

TEST(SentencePiece, BosAndEosFollowTheFiles) {
  auto t = load_model("llama");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->bos_id(), 1);
  EXPECT_EQ(t->eos_id(), 2);
  EXPECT_EQ(t->encode_with_bos("a", true).front(), 1);
  auto both = load_model("llama", R"({"add_bos_token":false,"add_eos_token":true})");
  ASSERT_TRUE(both);
  Ids ids = both->encode("a", true);
  ids.push_back(2);
  EXPECT_EQ(both->encode_with_bos("a", true), ids);
}

TEST(SentencePiece, MarkersAreFoundOnlyWhereTheyMayBe) {
  auto t = load_model("gemma");
  ASSERT_TRUE(t);
  auto start = t->find("<start_of_turn>"), end = t->find("<end_of_turn>");
  ASSERT_TRUE(start && end);
  EXPECT_TRUE(t->is_added(*start));
  Ids literal = t->encode("<start_of_turn>", false);
  EXPECT_THAT(literal, testing::Not(testing::Contains(*start)));
  EXPECT_EQ(t->decode(literal), "<start_of_turn>");
  TextPiece pieces[] = {
      {"<start_of_turn>", false}, {"x<end_of_turn>", true}, {"<end_of_turn>", false}};
  Ids ids = t->encode(pieces);
  EXPECT_EQ(ids.front(), *start);
  EXPECT_EQ(ids.back(), *end);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), *end), 1);
  // User-defined white space is no marker.
  EXPECT_THAT(t->encode("    x", false), testing::Contains(*t->find("▁▁▁▁")));
}

TEST(SentencePiece, OnlyLegacyTokenizersRepeatThePrefixBehindAMarker) {
  const char* text = "ab<s>ab";
  auto legacy = load_model("llama");
  auto modern = load_model("llama", R"({"legacy":false})");
  ASSERT_TRUE(legacy && modern);
  EXPECT_EQ(legacy->decode(legacy->encode(text, true)), "ab<s> ab");
  EXPECT_EQ(modern->decode(modern->encode(text, true)), text);
}

TEST(SentencePiece, TheConfigurationAddsTokens) {
  auto t = load_model("llama", R"({"bos_token":"<s>","eos_token":{"content":"[END]"},
      "added_tokens_decoder":{"900":{"content":"[END]","special":true}}})");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->vocab_size(), 901);
  EXPECT_EQ(t->eos_id(), 900);
  EXPECT_THAT(t->encode("[END]", true), ElementsAre(900));
  EXPECT_EQ(t->token_bytes(900), "[END]");
  EXPECT_EQ(t->token_bytes(899), "");
}

TEST(SentencePiece, BytePiecesAreBytes) {
  auto t = load_model("llama");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->token_bytes(*t->find("<0x0A>")), "\n");
  EXPECT_EQ(t->token_bytes(*t->find("<0xFF>")), "\xff");
}

TEST(SentencePiece, BrokenModelsAreRefused) {
  std::string bytes = model_bytes("llama");
  EXPECT_FALSE(open("no model").ok());
  // Cut between two fields a model may still be one; cut elsewhere it is not, and says so.
  for (size_t n = 1; n < bytes.size(); n += 97) {
    auto r = open(bytes.substr(0, n));
    if (!r.ok()) {
      EXPECT_NE(r.status().message().find("tokenizer.model"), std::string::npos);
    }
  }
  EXPECT_EQ(open(std::string("\x0a\x7f", 2)).status().message(),
            "tokenizer.model is not a SentencePiece model: its protobuf is broken");
}

}  // namespace
}  // namespace nmc
