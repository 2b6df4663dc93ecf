#include "runtime/text/dialect/text_block.h"

#include <gtest/gtest.h>

namespace nmc {
namespace {

std::string all(const std::vector<DialectEvent>& events) {
  std::string text;
  for (const DialectEvent& e : events) text += e.text + "|";
  return text;
}

TEST(TextBlock, HoldsBlanksUntilTextFollows) {
  TextBlock block(DialectEvent::Kind::kContent);
  std::vector<DialectEvent> events;
  block.add("\n a \n", &events);
  EXPECT_EQ(all(events), "a|");
  block.add(" ", &events);
  block.add("b ", &events);
  EXPECT_EQ(all(events), "a| \n b|");
  block.end(false, &events);
  EXPECT_EQ(all(events), "a| \n b|");
}

TEST(TextBlock, HoldsACharacterUntilItIsWhole) {
  TextBlock block(DialectEvent::Kind::kContent);
  std::vector<DialectEvent> events;
  block.add(" \xe2", &events);
  block.add("\x82", &events);
  EXPECT_TRUE(block.blank());
  EXPECT_TRUE(events.empty());
  block.add("\xac", &events);
  EXPECT_EQ(all(events), "€|");
}

TEST(TextBlock, EndMakesItReadyForTheNextBlock) {
  TextBlock block(DialectEvent::Kind::kReasoning);
  std::vector<DialectEvent> events;
  block.add("a ", &events);
  block.end(true, &events);
  EXPECT_EQ(all(events), "a| |");
  block.add(" b", &events);
  EXPECT_EQ(all(events), "a| |b|");
}

}  // namespace
}  // namespace nmc
