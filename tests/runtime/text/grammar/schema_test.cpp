#include "runtime/text/grammar/schema.h"

#include <gtest/gtest.h>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

Result<std::shared_ptr<Grammar>> compile_schema(const std::string& schema) {
  GrammarBuilder b;
  JsonRules rules(b);
  NMC_ASSIGN(ExprId root, schema_expression(b, rules, Json::parse(schema), "schema"));
  return Grammar::compile(b, b.rule("root", root), test_vocabulary());
}

// The independent judge: valijson, which knows the older spelling of prefixItems.
bool validates(const std::string& schema, const std::string& text) {
  auto schema_json = nlohmann::json::parse(schema),
       value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) return false;
  if (schema_json.contains("prefixItems")) {
    schema_json["additionalItems"] = schema_json["items"];
    schema_json["items"] = schema_json["prefixItems"];
  }
  valijson::Schema parsed;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), parsed);
  return valijson::Validator().validate(parsed, valijson::adapters::NlohmannJsonAdapter(value),
                                        nullptr);
}

struct Case {
  const char* schema;
  std::vector<const char*> valid;    // reachable
  std::vector<const char*> invalid;  // impossible
};

const Case kCases[] = {
    {R"({"type":"string","allOf":[{"pattern":"^[^m-z]*$"},{"pattern":"^[a-z \\d]{0,5}$"}]})",
     {R"("")", R"("a 4fl")"},
     {R"("abcdef")", R"("amb")", R"("a-b")"}},
    {R"({"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":4})",
     {R"("ab")", R"("abcd")"},
     {R"("a")", R"("abcde")", R"("aB")"}},
    {R"({"type":"string","maxLength":524288})", {R"("")", R"("ab\u00e9")"}, {"3"}},
    {R"({"format":"uri"})",
     {R"("http://localhost:18080/a%20b?q=%C3%A9#x")"},
     {R"("http://a/%2")", R"("a b")"}},
    {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false})",
     {R"({"a":"x"})", R"({"a": "x", "b": 3})", "{\n  \"a\": \"é\\n\"\n}"},
     {R"({})", R"({"b":3})", R"({"b":3,"a":"x"})", R"({"a":1})", R"({"a":"x","c":1})",
      R"({"a":"x","a":"y"})"}},
    {R"({"type":"object","properties":{"ab":{"type":"integer"},"a":{"type":"boolean"}}})",
     {"{}", R"({"ab":1,"a":true,"abc":[]})", R"({"b":{"x":null}})", R"({"":1})", R"({"a":false})"},
     {R"({"ab":"x"})", R"({"a":0})", R"({"zz":1,"a":0})", "{\"\\u0061\":3}"}},
    {R"({"type":"object","additionalProperties":{"type":"integer"},"required":["k"]})",
     {R"({"k":1})", R"({"k":1,"other":2})"},
     {R"({})", R"({"k":"x"})", R"({"k":1,"o":true})"}},
    {R"({"type":"array","items":{"type":"integer","minimum":-3,"maximum":12},"minItems":1,"maxItems":3})",
     {"[0]", "[-3, 12]", "[1,2,3]"},
     {"[]", "[13]", "[1,2,3,4]", "[-4]", "[1.5]"}},
    {R"({"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":{"type":"integer"},"minItems":1})",
     {R"(["a"])", R"(["a",null])", R"(["a",null,1,2])"},
     {"[]", "[1]", R"(["a",1])", R"(["a",null,"b"])"}},
    {R"({"enum":["red","gr\"een",3,null,{"a":[1]}]})",
     {R"("red")", R"("gr\"een")", "3", "null", R"({"a":[1]})"},
     {R"("blue")", "4"}},
    {R"({"const":"x"})", {R"("x")"}, {R"("y")"}},
    {R"({"type":["string","null"],"minLength":2,"maxLength":4})",
     {"null", R"("ab")", R"("éé\n")", "\"\\ud83d\\ude00b\""},
     {R"("a")", R"("abcde")", "3"}},
    {R"({"anyOf":[{"type":"integer"},{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"additionalProperties":false}]})",
     {"5", R"({"x":1.5e3})"},
     {"1.5", "{}", R"("a")"}},
    {R"({"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"v":{"type":"integer"}},"required":["kind","v"],"additionalProperties":false},
                  {"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"],"additionalProperties":false}]})",
     {R"({"kind":"a","v":1})", R"({"kind":"b"})"},
     {R"({"kind":"a"})", R"({"kind":"c"})"}},
    {R"({"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"null"}}}],"type":"object"})",
     {R"({"a":1})", R"({"a":1,"b":null})"},
     {"{}", R"({"a":1,"b":2})"}},
    {R"({"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["v","next"],"additionalProperties":false}}})",
     {R"({"v":1,"next":null})", R"({"v":1,"next":{"v":2,"next":null}})"},
     {R"({"v":1})", R"({"v":1,"next":3})"}},
    {R"({"type":"string","pattern":"^[a-c]+-\\d{2}$"})",
     {R"("abc-12")"},
     {R"("abd-12")", R"("a-1")", R"("xa-12")"}},
    {R"({"type":"string","pattern":"b\"?c"})", {R"("xbcz")", R"("b\"c")"}, {R"("xb")"}},
    {R"({"type":"string","format":"date"})",
     {R"("2024-12-31")", R"("2024-02-28")"},
     {R"("2024-13-01")", R"("2024-02-30")", R"("2024-1-1")"}},
    {R"({"type":"number","exclusiveMinimum":0,"maximum":2.5})",
     {"0.001", "2.5", "1"},
     {"0", "0.000", "2.51", "-1", "3"}},
    {R"({"type":"integer","minimum":-9007199254740991,"exclusiveMinimum":0,"maximum":9007199254740991})",
     {"1", "9007199254740991"},
     {"0", "-5", "9007199254740992"}},
    {R"({"type":"object","properties":{},"additionalProperties":false})",
     {"{}", "{ }"},
     {R"({"a":1})"}},
    {R"({"type":"boolean"})", {"true", "false"}, {"null", "1"}},
    {R"(true)", {"1", "[]", R"({"a":[{}]})"}, {"", "{"}},
};

TEST(Schema, ReachesTheValidAndNothingElse) {
  for (const Case& c : kCases) {
    auto g = compile_schema(c.schema);
    ASSERT_TRUE(g.ok()) << c.schema << ": " << g.status().message();
    for (const char* text : c.valid)
      EXPECT_TRUE(accepts(*g, text)) << c.schema << " should take " << text;
    for (const char* text : c.invalid)
      EXPECT_FALSE(accepts(*g, text)) << c.schema << " should not take " << text;
  }
}

TEST(Schema, EveryRandomTextValidates) {
  std::mt19937 random(3);
  for (const Case& c : kCases) {
    if (std::string(c.schema) == "true") continue;  // valijson wants an object
    auto g = compile_schema(c.schema);
    ASSERT_TRUE(g.ok());
    for (int i = 0; i < 60; ++i) {
      std::string text = random_text(*g, random, 30);
      EXPECT_TRUE(validates(c.schema, text)) << c.schema << " gave " << text;
    }
  }
}

TEST(Schema, DescriptionsNeverMatter) {
  auto with = [](const std::string& description) {
    return Json{{"type", "object"},
                {"description", description},
                {"properties", {{"a", {{"type", "null"}, {"description", description}}}}},
                {"additionalProperties", false}}
        .dump();
  };
  for (const std::string& d :
       {std::string("\"\\{}[]\n\t"), std::string(8000, '"'), std::string("😀 `::=`")}) {
    auto g = compile_schema(with(d));
    ASSERT_TRUE(g.ok());
    EXPECT_TRUE(accepts(*g, R"({"a":null})"));
    EXPECT_FALSE(accepts(*g, R"({"a":1})"));
  }
}

TEST(Schema, WhatCannotBeEnforcedIsRefusedWithItsPath) {
  for (auto [schema, part] :
       {std::pair{R"({"type":"object","properties":{"x":{"type":"integer","multipleOf":3}}})",
                  "schema/properties/x/multipleOf"},
        {R"({"not":{}})", "schema/not"},
        {R"({"type":"array","uniqueItems":true})", "schema/uniqueItems"},
        {R"({"type":"array","items":{"patternProperties":{}}})", "schema/items/patternProperties"},
        {R"({"$ref":"http://x/y"})", "schema/$ref"},
        {R"({"$ref":"#/nope"})", "#/nope"},
        {R"({"type":"strin"})", "\"strin\""},
        {R"({"type":"string","pattern":"(?=a)b"})", "schema/pattern"},
        {R"({"type":"string","pattern":"a\\1"})", "schema/pattern"},
        {R"({"type":"string","format":"zip"})", "schema/format"},
        {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", "schema/oneOf"},
        {R"({"type":"array","minItems":3,"maxItems":1})", "schema/minItems"},
        {R"({"type":"object","required":["a"],"additionalProperties":false})", "schema/required"},
        {R"({"allOf":[{"type":"string"},{"type":"integer"}]})", "schema/allOf/1/type"},
        {R"(3)", "schema: "}}) {
    auto g = compile_schema(schema);
    ASSERT_FALSE(g.ok()) << schema;
    EXPECT_NE(g.status().message().find(part), std::string::npos) << g.status().message();
  }
}

TEST(Schema, ListsThatWouldBeSlowAreRefusedAtOnce) {
  Json values = Json::array(), branches = Json::array();
  for (int i = 0; i < 60'000; ++i) {
    values.push_back("v" + std::to_string(i));
    branches.push_back({{"const", i}});
  }
  for (const char* keyword : {"enum", "anyOf", "oneOf", "allOf"}) {
    Json schema;
    schema[keyword] = keyword == std::string("enum") ? values : branches;
    auto g = compile_schema(schema.dump());
    ASSERT_FALSE(g.ok()) << keyword;
    EXPECT_NE(g.status().message().find("60000 entries"), std::string::npos);
  }
  Json object = {{"properties", Json::object()}};
  for (int i = 0; i < 1001; ++i) object["properties"]["p" + std::to_string(i)] = true;
  auto g = compile_schema(object.dump());
  ASSERT_FALSE(g.ok());
  EXPECT_NE(g.status().message().find("1001 members"), std::string::npos);
}

TEST(Schema, EndlessReferencesAreRefusedNotFollowed) {
  EXPECT_FALSE(compile_schema(R"({"$ref":"#"})").ok());
  EXPECT_FALSE(
      compile_schema(
          R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})")
          .ok());
  EXPECT_FALSE(
      compile_schema(R"({"type":"object","properties":{"x":{"$ref":"#"}},"required":["x"]})").ok());
}

}  // namespace
}  // namespace nmc
