#include "runtime/text/template/marked_text.h"

#include <gtest/gtest.h>

namespace nmc::jinja {
namespace {

using Spans = std::vector<TextSpan>;

MarkedText sample() {  // "ab[cd]ef[gh]", brackets mark literal bytes
  MarkedText text("ab");
  text.append("cd", true);
  text.append("ef");
  text.append(MarkedText::literal("gh"));
  return text;
}

TEST(MarkedText, AppendKeepsAndJoinsMarks) {
  EXPECT_EQ(sample().literal_spans(), (Spans{{2, 4}, {6, 8}}));
  MarkedText text = MarkedText::literal("a");
  text.append("b", true);
  text.append(MarkedText::literal("c"));
  text.append("", true);
  EXPECT_EQ(text.literal_spans(), (Spans{{0, 3}}));
  EXPECT_TRUE(MarkedText::literal("").literal_spans().empty());
}

TEST(MarkedText, SliceCutsMarks) {
  EXPECT_EQ(sample().slice(3, 7).bytes(), "defg");
  EXPECT_EQ(sample().slice(3, 7).literal_spans(), (Spans{{0, 1}, {3, 4}}));
  EXPECT_EQ(sample().slice(2, 4).literal_spans(), (Spans{{0, 2}}));
  EXPECT_TRUE(sample().slice(4, 6).literal_spans().empty());
  EXPECT_TRUE(sample().slice(3, 3).literal_spans().empty());
  EXPECT_EQ(sample().slice(0, 8).literal_spans(), sample().literal_spans());
}

TEST(MarkedText, EverySliceAgreesWithItsBytes) {
  MarkedText whole = sample();
  auto is_literal = [](const MarkedText& t, size_t at) {
    for (const TextSpan& s : t.literal_spans()) {
      if (at >= s.begin && at < s.end) return true;
    }
    return false;
  };
  for (size_t begin = 0; begin <= whole.size(); ++begin) {
    for (size_t end = begin; end <= whole.size(); ++end) {
      MarkedText part = whole.slice(begin, end);
      for (size_t i = 0; i < part.size(); ++i) {
        EXPECT_EQ(is_literal(part, i), is_literal(whole, begin + i));
      }
    }
  }
}

}  // namespace
}  // namespace nmc::jinja
