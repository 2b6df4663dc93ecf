// Citations in grounded answers of Cohere's models.
#include <gtest/gtest.h>

#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

std::string content_of(const std::string& answer, bool citations = true) {
  Reading how{.dialect = Dialect::kCmd3, .citations = citations};
  return read("<|END_THINKING|><|START_RESPONSE|>" + answer + "<|END_RESPONSE|>", how).content;
}

TEST(Citations, TheTagsVanishAndTheTextStays) {
  EXPECT_EQ(content_of("It is <co>27 °C</co: 0:[1,2],1:[0]> today."), "It is 27 °C today.");
  EXPECT_EQ(content_of("<co>a</co: 0:[0]> <co>🌈 b</co: 1:[ 2 ]>"), "a 🌈 b");
  EXPECT_EQ(content_of("<co: 0,1>a</co: 0,1>"), "a");
  EXPECT_EQ(content_of("<co>a <co>b</co: 0:[1]> c</co: 0:[2]>"), "a b c");
  EXPECT_EQ(content_of("x<co></co: 0:[1]>y"), "xy");
  EXPECT_EQ(content_of("a <co>b"), "a b") << "it was never closed";
}

TEST(Citations, LookalikesAreText) {
  for (const char* text : {"<completion_A>", "<co x>", "</column>", "a < b <c", "<co: x>", "<co",
                           "</co: 0:[1", "<<code>", "<colour>"}) {
    EXPECT_EQ(content_of(text), text);
  }
  EXPECT_EQ(content_of("<<co>a"), "<a");
  const std::string endless = "</co: " + std::string(600, '1') + ">";
  EXPECT_EQ(content_of(endless), endless);
}

TEST(Citations, StayWhereNobodyAskedForThem) {
  EXPECT_EQ(content_of("<co>a</co: 0:[1]>", false), "<co>a</co: 0:[1]>");
}

TEST(Citations, ATagThatALimitCutVanishes) {
  Reading how{.dialect = Dialect::kCmd3, .cut = true, .citations = true};
  const std::string begin = "<|END_THINKING|><|START_RESPONSE|>It is <co>warm";
  for (const char* rest : {"</co", "</co:", "</co: 0:[1,", "</co: 0:[1]>", "<co", ""}) {
    EXPECT_EQ(read(begin + rest, how).content, "It is warm") << rest;
  }
  EXPECT_EQ(read(begin + " <", how).content, "It is warm <");
}

TEST(Citations, AlsoInThought) {
  Reading how{.dialect = Dialect::kCmd4, .citations = true};
  EXPECT_EQ(read("so <co>x</co: 0:[1]>, <c<|END_THINKING|>y", how),
            (Transcript{"so x, <c", "y", {}, ""}));
}

}  // namespace
}  // namespace nmc
