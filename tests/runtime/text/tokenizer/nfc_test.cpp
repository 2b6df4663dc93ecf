#include "runtime/text/tokenizer/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>

#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

std::string ours(std::string_view text) {
  std::string out;
  std::string covered;
  normalize_nfc(text, [&](std::string_view before, std::string_view after) {
    covered += before;
    out += after;
  });
  EXPECT_EQ(covered, text);
  return out;
}

// The whole text at once, by the library.
std::string whole(const std::string& text) {
  auto* p = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
  std::string out(reinterpret_cast<char*>(p));
  free(p);
  return out;
}

std::string utf8(uint32_t c) {
  std::string s;
  append_utf8(s, c);
  return s;
}

TEST(Nfc, ComposesAndOrders) {
  EXPECT_EQ(ours("e\xcc\x81t\xcc\x81"), "\xc3\xa9t\xcc\x81");
  EXPECT_EQ(ours("\xe2\x84\xab"), "\xc3\x85");  // the Angstrom sign
  EXPECT_EQ(ours("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"), "\xed\x95\x9c");
  EXPECT_EQ(ours(""), "");
}

TEST(Nfc, InvalidBytesPassAndComposeWithNothing) {
  EXPECT_EQ(ours("e\xff\xcc\x81"), "e\xff\xcc\x81");
  EXPECT_EQ(ours("\xff\xfe"), "\xff\xfe");
  EXPECT_EQ(ours("e\xcc\x81\xcc"), "\xc3\xa9\xcc");
}

TEST(Nfc, APageOfMarksOnOneLetterTakesNoQuadraticTime) {
  std::string marks, below, above;
  for (int i = 0; i < 200'000; ++i) {
    marks += "\xcc\x81\xcc\xa3";
    below += "\xcc\xa3";
    above += "\xcc\x81";
  }
  EXPECT_EQ(ours("x" + marks), "x\xcc\xa3" + below.substr(2) + above);
}

TEST(Nfc, TheQuickLookIsRightAboutEveryCharacter) {
  for (uint32_t c = 1; c < 0x110000; ++c) {
    if ((c >= 0xd800 && c <= 0xdfff) || !surely_nfc(utf8(c))) continue;
    ASSERT_EQ(whole(utf8(c)), utf8(c)) << std::hex << c;
    ASSERT_EQ(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class, 0)
        << std::hex << c;
    // Nothing composes with it as the second of two: no character decomposes to end in it.
  }
  for (uint32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    utf8proc_int32_t parts[8];
    int boundary = 0;
    auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 8, UTF8PROC_STABLE,
                                     &boundary);
    for (int i = 1; i < n; ++i)
      ASSERT_FALSE(surely_nfc(utf8(static_cast<uint32_t>(parts[i])))) << std::hex << c;
  }
}

TEST(Nfc, EqualsTheLibraryOnTheWholeText) {
  const uint32_t blocks[] = {0x41,   0xe9,   0x300,  0x323,  0x344,  0x430,   0x958,   0x9be,
                             0xf71,  0x1100, 0x1161, 0x11a8, 0x1e9b, 0x20d0,  0x2126,  0x3099,
                             0x304b, 0xac00, 0xfb1d, 0x4e00, 0xf900, 0x1d15e, 0x1f44d, 0x20};
  std::mt19937 random(7);
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    for (uint32_t n = random() % 9; n > 0; --n)
      text += utf8(blocks[random() % std::size(blocks)] + random() % 24);
    ASSERT_EQ(ours(text), whole(text));
  }
}

}  // namespace
}  // namespace nmc::tok
