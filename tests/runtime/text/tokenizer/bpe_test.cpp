#include "runtime/text/tokenizer/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/tokenizer/byte_alphabet.h"
#include "tests/runtime/text/tokenizer/fixture.h"

namespace nmc {
namespace {

using testing::ElementsAre;

// Encodes with small_json() after changes to its model.
std::vector<std::string> encode(std::string_view text, const Json& model_changes = Json::object()) {
  Json json = small_json();
  for (const auto& [key, value] : model_changes.items()) json["model"][key] = value;
  auto t = load(dump_json(json));
  return t ? tokens_of(*t, t->encode(text, false)) : std::vector<std::string>{};
}

std::string model_error(const Json& model_changes) {
  Json json = small_json();
  for (const auto& [key, value] : model_changes.items()) json["model"][key] = value;
  return load_error(dump_json(json));
}

TEST(Bpe, MergesTheLowestRankFirstAndThenTheLeftmost) {
  EXPECT_THAT(encode("abc"), ElementsAre("abc"));
  EXPECT_THAT(encode("abcd"), ElementsAre("abc", "d"));
  EXPECT_THAT(encode("xcd"), ElementsAre("x", "cd"));
  EXPECT_THAT(encode("ababcab"), ElementsAre("ab", "abc", "ab"));
  EXPECT_THAT(encode("abcd", {{"merges", {"c d", "a b", "ab c"}}}), ElementsAre("ab", "cd"));
  EXPECT_THAT(encode(""), ElementsAre());
}

TEST(Bpe, MergesMayBePairs) {
  Json pairs = Json::array({Json::array({"c", "d"}), Json::array({"a", "b"})});
  EXPECT_THAT(encode("abcd", {{"merges", pairs}}), ElementsAre("ab", "cd"));
}

TEST(Bpe, OfARepeatedMergeTheLastRankCounts) {
  EXPECT_THAT(encode("bcd", {{"vocab", {{"b", 0}, {"c", 1}, {"d", 2}, {"bc", 3}, {"cd", 4}}},
                             {"merges", {"b c", "c d", "b c"}}}),
              ElementsAre("b", "cd"));
}

TEST(Bpe, AWholeWordNeedsNoMergesWhereTheFileSaysSo) {
  Json vocab = {{"x", 0}, {"y", 1}, {"xy", 2}};
  EXPECT_THAT(encode("xy", {{"vocab", vocab}, {"merges", Json::array()}}), ElementsAre("x", "y"));
  EXPECT_THAT(encode("xy", {{"vocab", vocab}, {"merges", Json::array()}, {"ignore_merges", true}}),
              ElementsAre("xy"));
}

TEST(Bpe, AMarkerIsNoWord) {
  Json json = small_json();
  json["model"]["ignore_merges"] = true;
  json["model"]["vocab"]["end"] = 100;
  json["added_tokens"] = {{{"id", 100}, {"content", "end"}}};
  auto t = load(dump_json(json));
  ASSERT_TRUE(t);
  EXPECT_THAT(t->encode("end", true), ElementsAre(100));
  EXPECT_THAT(tokens_of(*t, t->encode("end", false)), ElementsAre("e", "n", "d"));
  // Nor the result of a merge.
  json["model"]["ignore_merges"] = false;
  json["model"]["vocab"]["en"] = 101;
  json["model"]["merges"] = {"e n", "en d"};
  t = load(dump_json(json));
  ASSERT_TRUE(t);
  EXPECT_THAT(t->encode("end", true), ElementsAre(100));
  EXPECT_THAT(tokens_of(*t, t->encode("end", false)), ElementsAre("en", "d"));
}

TEST(Bpe, UnknownCharactersAreDroppedFusedOrBytes) {
  EXPECT_THAT(encode("aÜÜb"), ElementsAre("ab"));
  Json vocab = {{"a", 0}, {"b", 1}, {"?", 2}};
  Json unknown = {{"vocab", vocab}, {"merges", Json::array()}, {"unk_token", "?"}};
  EXPECT_THAT(encode("aÜÜb", unknown), ElementsAre("a", "?", "?", "b"));
  unknown["fuse_unk"] = true;
  EXPECT_THAT(encode("aÜÜb", unknown), ElementsAre("a", "?", "b"));
  unknown["byte_fallback"] = true;  // without the byte tokens: still unknown
  EXPECT_THAT(encode("aÜb", unknown), ElementsAre("a", "?", "b"));
  unknown["vocab"]["<0xC3>"] = 3;
  unknown["vocab"]["<0x9C>"] = 4;
  EXPECT_THAT(encode("aÜb", unknown), ElementsAre("a", "<0xC3>", "<0x9C>", "b"));
}

TEST(Bpe, LongWordsTakeNoQuadraticTime) {
  Json vocab = {{"a", 0}, {"aa", 1}, {"aaaa", 2}};
  Json json = small_json();
  json["model"]["vocab"] = vocab;
  json["model"]["merges"] = {"a a", "aa aa"};
  auto t = load(dump_json(json));
  ASSERT_TRUE(t);
  EXPECT_EQ(t->encode(std::string(1'000'000, 'a'), false), Ids(250'000, 2));
}

TEST(Bpe, NamesWhatIsWrong) {
  EXPECT_EQ(model_error({{"type", "Unigram"}}),
            "tokenizer.json: the model type \"Unigram\" is not supported; BPE is");
  EXPECT_EQ(model_error({{"merges", {"a b", "b z"}}}),
            "tokenizer.json: model.merges[1] needs \"bz\", which is not in model.vocab");
  EXPECT_EQ(model_error({{"unk_token", "?"}}),
            "tokenizer.json: model.unk_token \"?\" is not in model.vocab");
  EXPECT_EQ(model_error({{"end_of_word_suffix", "</w>"}}),
            "tokenizer.json: model.end_of_word_suffix is not supported");
  EXPECT_NE(model_error({{"dropout", 0.1}}).find("dropout"), std::string::npos);
  EXPECT_EQ(model_error({{"merges", Json::object()}}),
            "tokenizer.json: the field \"model.merges\" must be an array");
  EXPECT_NE(model_error({{"vocab", Json::object()}}).find("model.vocab"), std::string::npos);
  EXPECT_NE(model_error({{"vocab", {{"a", 0}, {"b", 0}}}, {"merges", Json::array()}})
                .find("\"a\" and \"b\" have the same id 0"),
            std::string::npos);
  EXPECT_NE(model_error({{"vocab", {{"a", 5'000'000}}}, {"merges", Json::array()}})
                .find("ids run from 0"),
            std::string::npos);
}

TEST(ByteAlphabet, IsOneToOneOverAllBytes) {
  std::string bytes;
  for (int b = 0; b < 256; ++b) bytes += static_cast<char>(b);
  std::string text = tok::to_byte_alphabet(bytes);
  EXPECT_EQ(tok::from_byte_alphabet(text), bytes);
  EXPECT_EQ(tok::to_byte_alphabet(" \n!"), "ĠĊ!");
  EXPECT_EQ(tok::from_byte_alphabet("a b"), std::nullopt);  // a space is not in the alphabet
  EXPECT_EQ(tok::from_byte_alphabet("你"), std::nullopt);
}

}  // namespace
}  // namespace nmc
