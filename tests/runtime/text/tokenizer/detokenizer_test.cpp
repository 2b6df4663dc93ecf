#include "runtime/text/tokenizer/detokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/base/text.h"
#include "tests/runtime/text/tokenizer/fixture.h"

namespace nmc {
namespace {

class DetokenizerTest : public testing::Test {
 protected:
  std::unique_ptr<Tokenizer> t_ = load(source_file(fixture_path("llama3")));
  // The ids of single bytes.
  Ids bytes(std::string_view text) {
    Ids ids;
    for (char c : text) ids.push_back(t_->encode(std::string_view(&c, 1), false)[0]);
    return ids;
  }
};

TEST_F(DetokenizerTest, HoldsACharacterUntilItIsWhole) {
  Detokenizer d(*t_);
  Ids ids = bytes("a👍");
  EXPECT_EQ(d.push(ids[0]), "a");
  EXPECT_EQ(d.push(ids[1]), "");
  EXPECT_EQ(d.push(ids[2]), "");
  EXPECT_EQ(d.push(ids[3]), "");
  EXPECT_EQ(d.push(ids[4]), "👍");
  EXPECT_EQ(d.flush(), "");
}

TEST_F(DetokenizerTest, ACutCharacterIsReplacedAtTheEnd) {
  Detokenizer d(*t_);
  Ids ids = bytes("\xf0\x9f");
  EXPECT_EQ(d.push(ids[0]), "");
  EXPECT_EQ(d.push(ids[1]), "");
  EXPECT_EQ(d.flush(), "\xef\xbf\xbd");
  EXPECT_EQ(d.flush(), "");
}

TEST_F(DetokenizerTest, BytesThatCannotGoOnAreReplacedAtOnce) {
  Detokenizer d(*t_);
  Ids ids = bytes(
      "\xf0\x9f"
      "a\x80");
  EXPECT_EQ(d.push(ids[0]), "");
  EXPECT_EQ(d.push(ids[1]), "");
  EXPECT_EQ(d.push(ids[2]),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(d.push(ids[3]), "\xef\xbf\xbd");
}

TEST_F(DetokenizerTest, UnknownIdsAreNothing) {
  Detokenizer d(*t_);
  EXPECT_EQ(d.push(-1), "");
  EXPECT_EQ(d.push(1 << 30), "");
  EXPECT_EQ(d.flush(), "");
}

TEST_F(DetokenizerTest, TheStreamIsTheWholeText) {
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    Ids ids;
    for (int n = 0; n < 50; ++n)
      ids.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(t_->vocab_size())));
    Detokenizer d(*t_);
    std::string text;
    for (int32_t id : ids) {
      std::string part = d.push(id);
      ASSERT_EQ(valid_utf8(part), part);
      text += part;
    }
    text += d.flush();
    ASSERT_EQ(text, valid_utf8(t_->decode(ids)));
  }
}

}  // namespace
}  // namespace nmc
