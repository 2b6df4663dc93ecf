#include "runtime/base/text.h"

#include <gtest/gtest.h>

namespace nmc {
namespace {

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(60968607744.0), "61.0 GB");
  EXPECT_EQ(human_count(30484303872.0), "30.5 B");
  EXPECT_EQ(human_count(1234), "1.23 K");
  EXPECT_EQ(human_seconds(4.25), "4.2 s");
  EXPECT_EQ(human_seconds(200), "3 m 20 s");
  EXPECT_EQ(human_seconds(3720), "1 h 02 m");
}

TEST(Text, ACutCharacterIsHeldBack) {
  std::string smile = "a\xf0\x9f\x98\x80";
  for (size_t cut = 2; cut < smile.size(); ++cut) {
    EXPECT_EQ(complete_utf8_prefix(smile.substr(0, cut)), 1u) << cut;
  }
  EXPECT_EQ(complete_utf8_prefix(smile), smile.size());
}

TEST(Text, BytesThatCanNeverBeACharacterAreNotHeld) {
  EXPECT_EQ(complete_utf8_prefix("a\xff"), 2u);
  EXPECT_EQ(complete_utf8_prefix("a\x80\x80\x80\x80"), 5u);
  EXPECT_EQ(complete_utf8_prefix("\xe0\x80"), 2u);  // overlong: cannot be completed
}

TEST(Text, InvalidBytesAreReplaced) {
  EXPECT_EQ(valid_utf8("a\xff"
                       "b\xe2\x82"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
}

}  // namespace
}  // namespace nmc
