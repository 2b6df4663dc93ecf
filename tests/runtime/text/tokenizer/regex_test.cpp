#include "runtime/text/tokenizer/regex.h"

#include <gtest/gtest.h>

#include "runtime/text/tokenizer/regex_syntax.h"
#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

// The first match of `pattern` in `text`, or "none".
std::string first(std::string_view pattern, std::string_view text) {
  auto regex = Regex::compile(pattern, "test");
  EXPECT_TRUE(regex.ok()) << regex.status().message();
  if (!regex.ok()) return "";
  RegexScratch scratch;
  auto m = regex->find(text, 0, scratch);
  if (m.outcome != Regex::Outcome::kMatch) return "none";
  return std::string(text.substr(m.begin, m.end - m.begin));
}

std::string pattern_error(std::string_view pattern) {
  auto regex = Regex::compile(pattern, "pre_tokenizer[1]");
  return regex.ok() ? "" : regex.status().message();
}

TEST(Regex, SpaceIsTheWhiteSpacePropertyAndNotU180E) {
  auto space = Regex::compile("\\s", "test");
  auto other = Regex::compile("\\S", "test");
  auto space_class = Regex::compile("[^\\S]", "test");
  RegexScratch scratch;
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    std::string text;
    append_utf8(text, c);
    bool is = space->find(text, 0, scratch).outcome == Regex::Outcome::kMatch;
    ASSERT_EQ(is, is_white_space(c)) << std::hex << c;
    ASSERT_NE(is, other->find(text, 0, scratch).outcome == Regex::Outcome::kMatch);
    ASSERT_EQ(is, space_class->find(text, 0, scratch).outcome == Regex::Outcome::kMatch);
  }
  EXPECT_EQ(first("\\s", "\xe1\xa0\x8e"), "none");
}

TEST(Regex, WordsHoldMarksConnectorsAndLetterNumbers) {
  EXPECT_EQ(first("\\w+", "e\xcc\x81_\xe2\x80\xbf\xe2\x85\xa0!"),
            "e\xcc\x81_\xe2\x80\xbf\xe2\x85\xa0");
  EXPECT_EQ(first("a\\b.", "ab a-"), "a-");
  EXPECT_EQ(first("a\\B.", "a- ab"), "ab");
  EXPECT_EQ(first("\\W", "ab\xe2\x82\xac"), "\xe2\x82\xac");
  // Oniguruma counts the superscripts of Latin-1 outside a class only.
  EXPECT_EQ(first("\\w", "\xc2\xb2"), "\xc2\xb2");
  EXPECT_EQ(first("[\\w]", "\xc2\xb2"), "none");
}

TEST(Regex, ReadsOnigurumasEscapes) {
  EXPECT_EQ(first("\\h+", "xyz beef"), "beef");
  EXPECT_EQ(first("[\\h]", "  f"), "f");
  EXPECT_EQ(first("\\u4e00", "a\xe4\xb8\x80"), "\xe4\xb8\x80");
  EXPECT_EQ(first("[[:space:]]", "a\xe3\x80\x80"), "\xe3\x80\x80");
  EXPECT_EQ(first("\\p{Letter}\\p{^Letter}", "a1"), "a1");
  EXPECT_EQ(first("[]a]+", "]a"), "]a");
  EXPECT_EQ(first("^b", "a\nb"), "b");
  EXPECT_EQ(first("\\d{1,2}+x", "12345x"), "12345x");
  EXPECT_EQ(first("(?:ab|[cd]){2}+", "abcabcab"), "abcabc");
  EXPECT_EQ(first("(?i)b|c", "aC"), "C");
  EXPECT_EQ(first("a{,2}b", "aaab"), "aab");
  EXPECT_EQ(first("{a}{1", "x{a}{1"), "{a}{1");
  EXPECT_EQ(first("a$", "a\nb"), "a");
}

TEST(Regex, AScriptIsNotItsExtensions) {
  // U+30FC is used with Katakana and Hiragana, and belongs to neither script.
  EXPECT_EQ(first("\\p{Hiragana}", "\xe3\x83\xbc"), "none");
  EXPECT_EQ(first("\\p{Han}", "\xe4\xb8\x80"), "\xe4\xb8\x80");
}

TEST(Regex, RefusesWhatItCannotReadTheSameWay) {
  EXPECT_EQ(pattern_error("[a[bc]]"),
            "tokenizer.json: pre_tokenizer[1]: a class inside a class in the regular expression "
            "\"[a[bc]]\" is not supported");
  for (const char* pattern :
       {"[a&&b]", "(?m:a)", "(?x)a", "\\G", "\\1", "\\k<a>", "[\\W]", "a\\", "\\p", "\\u12",
        "\\p{Klingon}", "(?#c)a", "[a", "a**b(", "\\R", "a)", "a(?i)b|c", "a{2}?"}) {
    EXPECT_NE(pattern_error(pattern), "") << pattern;
  }
}

TEST(Regex, GivesUpInsteadOfRunningForEver) {
  auto regex = Regex::compile("(a+a+)+[bc]", "test");
  ASSERT_TRUE(regex.ok());
  RegexScratch scratch;
  std::string text(5000, 'a');
  EXPECT_EQ(regex->find(text, 0, scratch).outcome, Regex::Outcome::kGaveUp);
}

TEST(Regex, FindsFromAnOffsetAndSeesWhatIsBefore) {
  auto regex = Regex::compile("(?<=a)b", "test");
  ASSERT_TRUE(regex.ok());
  RegexScratch scratch;
  EXPECT_EQ(regex->find("ab", 1, scratch).begin, 1u);
}

}  // namespace
}  // namespace nmc::tok
