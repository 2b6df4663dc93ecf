#include <gtest/gtest.h>

#include "runtime/text/dialect/plain_parser.h"
#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

TEST(Plain, EveryByteIsAnswer) {
  Reading how{.dialect = Dialect::kPlain, .start = StartMode::kContent};
  std::string text = " <think> <|START_ACTION|>[{}] 👋 \n";
  EXPECT_EQ(read(text, how), (Transcript{"", text, {}, ""}));
}

TEST(Plain, ABrokenCharacterAtTheEndIsReleased) {
  auto parser = make_parser(Dialect::kPlain, StartMode::kContent);
  std::vector<DialectEvent> events;
  parser->feed("a\xe2\x82", &events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "a");
  parser->finish(false, &events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].text, "\xe2\x82");
}

}  // namespace
}  // namespace nmc
