#include "runtime/text/dialect/json_answer.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

TEST(JsonAnswer, EndsWithTheValue) {
  for (std::string value :
       {"{\"a\": [1, \"}\"]}", "[1, [2]]", "\"a \\\" b\"", "-1.5e+3", "true", "null", " \n{}"}) {
    JsonAnswer json;
    EXPECT_EQ(json.feed(value), value.size());
    EXPECT_EQ(json.feed(" junk"), 0u) << value;
  }
}

TEST(JsonAnswer, WhatIsNotJsonNeverEnds) {
  JsonAnswer json;
  EXPECT_EQ(json.feed("Sorry. {} more"), 14u);
  EXPECT_FALSE(json.in_string());
}

TEST(JsonAnswer, InTheStream) {
  const Reading how{.json = true};
  auto content = [&](const std::string& text) {
    return read("x<|END_THINKING|>" + text, how).content;
  };
  std::string data = "{\"a\": \"<|END_TEXT|> <|START_ACTION|>\"}";
  EXPECT_EQ(content("<|START_TEXT|>" + data + "<|END_TEXT|>"), data);
  EXPECT_EQ(content(data + " and more"), data);
  EXPECT_EQ(content("[1]<|END_OF_TURN_TOKEN|>"), "[1]");
  EXPECT_EQ(content("12 13"), "12");
  EXPECT_EQ(content("No <b>json</b>."), "No <b>json</b>.");
  EXPECT_EQ(read("{\"draft\": 1}<|END_THINKING|><|START_TEXT|>{\"a\": 2}<|END_TEXT|>", how),
            (Transcript{"{\"draft\": 1}", "{\"a\": 2}", {}, ""}));
}

}  // namespace
}  // namespace nmc
