#include "runtime/text/tokenizer/digit_groups.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

std::vector<std::string_view> fast(std::string_view text, RegexScratch& scratch) {
  static const auto groups = DigitGroups::build();
  std::vector<std::string_view> out;
  Splitter splitter(text, SplitBehavior::kIsolated, false, out);
  groups->match(text, scratch, splitter);
  splitter.finish();
  return out;
}

// The pattern itself, run as any other.
std::vector<std::string_view> by_regex(std::string_view text, RegexScratch& scratch) {
  static const auto regex = Regex::compile(kDigitGroupsPattern, "test");
  std::vector<std::string_view> out;
  Splitter splitter(text, SplitBehavior::kIsolated, false, out);
  for (size_t from = 0;;) {
    auto m = regex->find(text, from, scratch);
    if (m.outcome != Regex::Outcome::kMatch) break;
    splitter.match(m.begin, m.end);
    from = m.end;
  }
  splitter.finish();
  return out;
}

std::string joined(std::string_view text) {
  RegexScratch scratch;
  std::string out;
  for (auto piece : fast(text, scratch)) out += (out.empty() ? "" : "|") + std::string(piece);
  return out;
}

TEST(DigitGroups, AreAlignedToTheRight) {
  EXPECT_EQ(joined("6789"), "6|789");
  EXPECT_EQ(joined("1234567"), "1|234|567");
  EXPECT_EQ(joined("123456"), "123|456");
  EXPECT_EQ(joined("x 12 y"), "x |12| y");
}

TEST(DigitGroups, DigitsGluedToAWordStay) {
  EXPECT_EQ(joined("1234abc"), "1234abc");
  EXPECT_EQ(joined("abc1234"), "abc|1|234");
  EXPECT_EQ(joined("1234_"), "1234_");
  EXPECT_EQ(joined("1234\xcc\x81"), "1234\xcc\x81");  // a combining accent is part of the word
}

TEST(DigitGroups, EqualThePatternBeforeEveryCharacter) {
  RegexScratch scratch;
  for (uint32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    std::string text = "1234";
    append_utf8(text, c);
    ASSERT_EQ(fast(text, scratch), by_regex(text, scratch)) << std::hex << c;
  }
}

TEST(DigitGroups, EqualThePatternOnRandomText) {
  const std::string_view parts[] = {"0", "12", "345", "\xd9\xa3", "\xf0\x9d\x9f\x8e", "a",
                                    " ", ".",  "_",   "\xc2\xb2", "\xcc\x81",         "\xc3\xa9"};
  std::mt19937 random(1);
  RegexScratch scratch;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t n = random() % 12; n > 0; --n) text += parts[random() % std::size(parts)];
    ASSERT_EQ(fast(text, scratch), by_regex(text, scratch)) << text;
  }
}

TEST(DigitGroups, AMillionDigitsTakeNoTime) {
  RegexScratch scratch;
  EXPECT_EQ(fast(std::string(1'000'000, '7'), scratch).size(), 333'334u);
}

}  // namespace
}  // namespace nmc::tok
