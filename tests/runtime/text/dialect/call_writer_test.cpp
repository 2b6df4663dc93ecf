#include "runtime/text/dialect/call_writer.h"

#include <gtest/gtest.h>

namespace nmc {
namespace {

std::vector<DialectEvent> write_two(const DialectOptions& options) {
  CallWriter writer(options);
  std::vector<DialectEvent> events;
  for (const char* id : {"0", "0"}) {
    writer.begin("f", id, &events);
    writer.end(true, &events);
  }
  return events;
}

TEST(CallWriter, IdsAreItsOwnAndUnique) {
  auto events = write_two({});
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0].id.substr(0, 5), "call_");
  EXPECT_EQ(events[0].id.size(), 29u);
  EXPECT_NE(events[0].id, events[3].id);
  EXPECT_EQ(events[0].model_id, events[3].model_id);
  EXPECT_EQ(events[3].index, 1);
}

TEST(CallWriter, ARepeatingGeneratorIsMadeUnique) {
  DialectOptions options;
  options.make_id = [] { return std::string("x"); };
  auto events = write_two(options);
  EXPECT_EQ(events[0].id, "x");
  EXPECT_NE(events[3].id, "x");
}

TEST(CallWriter, AClosedCallWithoutArgumentsGetsAnEmptyObject) {
  auto events = write_two({});
  EXPECT_EQ(events[1].text, "{}");
  EXPECT_TRUE(events[2].complete);
}

TEST(CallWriter, OnlyAWholeObjectIsComplete) {
  for (auto [text, complete] : {std::pair{"{\"a\": 1}", true},
                                {"{\"a\": ", false},
                                {"[1]", false},
                                {"{\"a\": 1}}", false}}) {
    CallWriter writer({});
    std::vector<DialectEvent> events;
    writer.begin("f", "", &events);
    writer.arguments(text, &events);
    writer.end(true, &events);
    EXPECT_EQ(events.back().complete, complete) << text;
  }
}

}  // namespace
}  // namespace nmc
