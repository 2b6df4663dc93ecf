#include "runtime/base/json.h"

#include <gtest/gtest.h>

namespace nmc {
namespace {

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  auto r = parse_json(text, "request", limits);
  return r.ok() ? "" : r.status().message();
}

TEST(Json, KeepsTheOrderOfKeys) {
  auto r = parse_json(R"({"z":1,"a":2})", "x");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(dump_json(*r), R"({"z":1,"a":2})");
}

TEST(Json, NamesTheTextAndThePlaceOfAnError) {
  EXPECT_NE(error_of("{\"a\":}").find("request is not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("{} x").find("request"), std::string::npos);
}

TEST(Json, RefusesBombsBeforeBuildingThem) {
  EXPECT_NE(error_of(std::string(2'000'000, '[')).find("nests deeper"), std::string::npos);
  JsonLimits few;
  few.elements = 10;
  EXPECT_NE(error_of("[1,2,3,4,5,6,7,8,9,10,11,12]", few).find("more than 10"), std::string::npos);
  JsonLimits small;
  small.bytes = 3;
  EXPECT_NE(error_of("[1,2]", small).find("at most 3"), std::string::npos);
}

TEST(Json, RefusesAnObjectWhoseKeysWouldTakeHours) {
  std::string keys = "{\"k\":0";
  for (int i = 0; i < 200'000; ++i) keys += ",\"" + std::to_string(i) + "\":0";
  EXPECT_NE(error_of(keys + "}").find("too many keys"), std::string::npos);
  std::string list = "[0";
  for (int i = 0; i < 200'000; ++i) list += ",0";
  EXPECT_EQ(error_of(list + "]"), "");
}

TEST(Json, NothingHidesBehindAZeroByte) {
  using namespace std::string_view_literals;
  EXPECT_NE(error_of("{}\0 anything"sv).find("zero byte"), std::string::npos);
  EXPECT_NE(error_of("]]]]"), "");
}

TEST(Json, BracketsInStringsDoNotCount) {
  EXPECT_EQ(error_of("[\"" + std::string(1000, '[') + "\\\"[\"]"), "");
}

TEST(Json, ANumberOutsideDoubleIsAnErrorNotACrash) {
  EXPECT_NE(error_of("[1e999]").find("outside the range"), std::string::npos);
}

TEST(Json, InvalidUtf8IsRefusedOnInputAndReplacedOnOutput) {
  EXPECT_NE(error_of("[\"\xff\"]"), "");
  EXPECT_EQ(dump_json(Json("a\xf0\x9f")), "\"a\xef\xbf\xbd\"");
}

TEST(Json, TypedFieldsNameTheField) {
  auto j = parse_json(R"({"n":1.5,"big":18446744073709551615,"s":"x","null":null})", "cfg");
  ASSERT_TRUE(j.ok());
  EXPECT_EQ(json_int(*j, "n", "cfg").status().message(),
            "cfg: the field \"n\" must be an integer, not number");
  EXPECT_FALSE(json_int(*j, "big", "cfg").ok());
  EXPECT_FALSE(json_int(*j, "absent", "cfg").ok());
  EXPECT_EQ(*json_int(*j, "null", "cfg", 4), 4);
  EXPECT_EQ(*json_string(*j, "s", "cfg"), "x");
  EXPECT_FALSE(json_bool(*j, "s", "cfg", true).ok());
}

}  // namespace
}  // namespace nmc
