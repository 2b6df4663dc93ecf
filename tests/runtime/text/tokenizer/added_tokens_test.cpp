#include "runtime/text/tokenizer/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nmc::tok {
namespace {

using testing::ElementsAre;

AddedToken token(int32_t id, std::string content) {
  AddedToken t{id, std::move(content)};
  return t;
}

// The text with its hits in brackets.
std::string marked(const AddedTokenMatcher& matcher, std::string_view text,
                   const LiteralRanges& literal = {}) {
  std::string out;
  size_t at = 0;
  for (;;) {
    auto hit = matcher.find(text, at, 0, literal);
    if (hit.id < 0) return out + std::string(text.substr(at));
    out += std::string(text.substr(at, hit.begin - at)) + "[" +
           std::string(text.substr(hit.begin, hit.end - hit.begin)) + "]";
    at = hit.end;
  }
}

TEST(AddedTokens, TheLeftmostAndThenTheLongestWins) {
  AddedTokenMatcher m({token(1, "<a>"), token(2, "<a><b>"), token(3, "a"), token(4, "<")});
  EXPECT_EQ(marked(m, "x<a><b><a>a<"), "x[<a><b>][<a>][a][<]");
  EXPECT_EQ(marked(m, ""), "");
}

TEST(AddedTokens, TakeTheSpaceThatTheyAskFor) {
  AddedToken left = token(1, "<l>"), right = token(2, "<r>");
  left.lstrip = true;
  right.rstrip = true;
  AddedTokenMatcher m({left, right});
  EXPECT_EQ(marked(m, "a \t\xe3\x80\x80<l> b"), "a[ \t\xe3\x80\x80<l>] b");
  EXPECT_EQ(marked(m, "a <r> \n b"), "a [<r> \n ]b");
  // Space that one token took is not there for the next.
  EXPECT_EQ(marked(m, "<r>  <l>"), "[<r>  ][<l>]");
}

TEST(AddedTokens, SingleWordsAreNotFoundInsideWords) {
  AddedToken word = token(1, "cat");
  word.single_word = true;
  AddedTokenMatcher m({word});
  EXPECT_EQ(marked(m,
                   "cat concat cats cat\xcc\x81 (cat) \xc3\xa9"
                   "cat cat"),
            "[cat] concat cats cat\xcc\x81 ([cat]) \xc3\xa9"
            "cat [cat]");
}

TEST(AddedTokens, AMarkerThatTouchesLiteralTextIsText) {
  AddedTokenMatcher m({token(1, "<a>"), token(2, "<a><b>")});
  LiteralRanges literal;
  literal.add(4, 5);  // in the middle of the longer token
  EXPECT_EQ(marked(m, "<a><b>", literal), "[<a>]<b>");
  LiteralRanges first;
  first.add(0, 1);
  EXPECT_EQ(marked(m, "<a><a>", first), "<a>[<a>]");
}

TEST(AddedTokens, WhiteSpaceIsNoMarker) {
  AddedTokenMatcher m({token(1, "    "), token(2, "\n\n")});
  LiteralRanges all;
  all.add(0, 100);
  EXPECT_EQ(marked(m, "a\n\n    b", all), "a[\n\n][    ]b");
}

TEST(AddedTokens, TheSpaceSymbolIsWhiteSpaceToo) {
  EXPECT_TRUE(token(1, "▁▁").blank());
  EXPECT_TRUE(token(1, "\t\n").blank());
  EXPECT_FALSE(token(1, "▁a").blank());
}

TEST(LiteralRanges, KnowWhatTheyTouch) {
  LiteralRanges r;
  r.add(2, 4);
  r.add(4, 6);
  r.add(9, 9);
  r.add(10, 11);
  EXPECT_FALSE(r.touches(0, 2));
  EXPECT_TRUE(r.touches(0, 3));
  EXPECT_TRUE(r.touches(5, 6));
  EXPECT_FALSE(r.touches(6, 10));
  EXPECT_TRUE(r.touches(0, 100));
  EXPECT_EQ(r.run_end(0, 100), 2u);
  EXPECT_EQ(r.run_end(3, 100), 6u);
  EXPECT_EQ(r.run_end(6, 8), 8u);
  EXPECT_EQ(r.run_end(11, 100), 100u);
}

std::string list_error(const char* list) {
  auto json = parse_json(list, "test");
  auto r = read_added_tokens(*json);
  return r.ok() ? "" : r.status().message();
}

TEST(AddedTokens, NameTheEntryThatIsWrong) {
  EXPECT_EQ(list_error("null"), "");
  EXPECT_EQ(list_error("{}"), "tokenizer.json: the field \"added_tokens\" must be an array");
  EXPECT_EQ(list_error(R"([{"id":1,"content":"a"},{"content":"b"}])"),
            "tokenizer.json: added_tokens[1]: the field \"id\" is missing");
  EXPECT_NE(list_error(R"([{"id":-1,"content":"a"}])").find("must be from 0"), std::string::npos);
  EXPECT_NE(list_error(R"([{"id":4194304,"content":"a"}])").find("must be from 0"),
            std::string::npos);
  EXPECT_NE(list_error(R"([{"id":1,"content":""}])").find("\"content\""), std::string::npos);
  EXPECT_NE(list_error(R"([{"id":1,"content":"a","lstrip":1}])").find("\"lstrip\""),
            std::string::npos);
  EXPECT_NE(list_error(R"([7])"), "");
}

}  // namespace
}  // namespace nmc::tok
