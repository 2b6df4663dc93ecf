// Post-processors and decoders: what stands around the ids, and what they turn back into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/tokenizer/decoder.h"
#include "runtime/text/tokenizer/post_processor.h"
#include "tests/runtime/text/tokenizer/fixture.h"

namespace nmc {
namespace {

using testing::ElementsAre;

Json parse(const char* text) {
  auto r = parse_json(text, "test");
  EXPECT_TRUE(r.ok()) << text;
  return *r;
}

const char* const kTemplate = R"({"type":"TemplateProcessing",
  "single":[{"SpecialToken":{"id":"B"}},{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"E"}}],
  "special_tokens":{"B":{"ids":[7,8]},"E":{"ids":[9]}}})";

std::string post_error(const char* text) {
  auto r = tok::read_post_processor(parse(text));
  return r.ok() ? "" : r.status().message();
}

TEST(PostProcessor, ReadsTheSingleTemplate) {
  auto p = tok::read_post_processor(parse(kTemplate));
  ASSERT_TRUE(p.ok());
  EXPECT_THAT(p->before, ElementsAre(7, 8));
  EXPECT_THAT(p->after, ElementsAre(9));
}

TEST(PostProcessor, ASequenceNestsItsTemplates) {
  std::string two = std::string(R"({"type":"Sequence","processors":[{"type":"ByteLevel"},)") +
                    kTemplate + "," + R"({"type":"TemplateProcessing","single":[
      {"SpecialToken":{"id":"X"}},{"Sequence":{"id":"A"}}],"special_tokens":{"X":{"ids":[1]}}}]})";
  auto p = tok::read_post_processor(parse(two.c_str()));
  ASSERT_TRUE(p.ok());
  EXPECT_THAT(p->before, ElementsAre(1, 7, 8));
  EXPECT_THAT(p->after, ElementsAre(9));
}

TEST(PostProcessor, NamesWhatIsWrong) {
  EXPECT_EQ(post_error("null"), "");
  EXPECT_EQ(post_error(R"({"type":"BertProcessing"})"),
            "tokenizer.json: post_processor: the post-processor type \"BertProcessing\" is not "
            "supported; TemplateProcessing, ByteLevel and Sequence are");
  EXPECT_NE(post_error(R"({"type":"TemplateProcessing"})").find("\"single\" must be an array"),
            std::string::npos);
  EXPECT_EQ(post_error(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"B"}}],
                          "special_tokens":{}})"),
            "tokenizer.json: post_processor: the token \"B\" of the template is missing from "
            "\"special_tokens\"");
  EXPECT_NE(post_error(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"B"}}],
                          "special_tokens":{"B":{"ids":[-1]}}})")
                .find("must hold token ids"),
            std::string::npos);
  EXPECT_NE(post_error(R"({"type":"TemplateProcessing","single":[]})").find("exactly once"),
            std::string::npos);
  EXPECT_NE(post_error(R"({"type":"TemplateProcessing","single":[5]})").find("single[0]"),
            std::string::npos);
}

tok::Decoder decoder(const char* text) {
  auto d = tok::Decoder::build(parse(text));
  EXPECT_TRUE(d.ok()) << d.status().message();
  return d.ok() ? *d : tok::Decoder();
}

TEST(Decoder, ByteLevelTurnsCharactersIntoBytes) {
  auto d = decoder(R"({"type":"ByteLevel"})");
  EXPECT_EQ(d.bytes("ĠaĊ"), " a\n");
  EXPECT_EQ(d.bytes("Ã"), "\xc3");
  EXPECT_EQ(d.bytes("你"), "你");  // not in the alphabet: as it stands
}

TEST(Decoder, LlamaStyleSequences) {
  auto d = decoder(R"({"type":"Sequence","decoders":[
      {"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},
      {"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})");
  EXPECT_EQ(d.bytes("▁a▁"), " a ");
  EXPECT_EQ(d.bytes("<0x0A>"), "\n");
  EXPECT_EQ(d.bytes("<0xZZ>"), "<0xZZ>");
  EXPECT_EQ(d.strip_leading(), 1u);
}

TEST(Decoder, StripsTheStartOfAWholeText) {
  Json json = small_json();
  json["decoder"] = parse(R"({"type":"Strip","content":" ","start":1,"stop":0})");
  auto t = load(dump_json(json));
  ASSERT_TRUE(t);
  EXPECT_EQ(t->decode(t->encode("  a b", false)), " a b");
}

TEST(Decoder, NamesWhatItDoesNotKnow) {
  auto error = [](const char* text) { return tok::Decoder::build(parse(text)).status().message(); };
  EXPECT_EQ(error(R"({"type":"CTC"})"),
            "tokenizer.json: decoder: the decoder type \"CTC\" is not supported; ByteLevel, "
            "ByteFallback, Replace, Fuse, Strip and Sequence are");
  EXPECT_NE(error(R"({"type":"Strip","content":"x","start":1})").find("Strip"), std::string::npos);
  EXPECT_NE(error(R"({"type":"Replace","pattern":{"Regex":"x"},"content":""})").find("String"),
            std::string::npos);
}

}  // namespace
}  // namespace nmc
