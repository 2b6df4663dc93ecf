#include "runtime/text/grammar/tool_calls.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

const ToolCallRules kTwoTools{
    .tools =
        {{"read",
          Json::parse(
              R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false})")},
         {"list \"x\"", Json()}},
    .parallel = true};

std::string spelling(const std::string& marker) {
  return marker == "<|END_ACTION|>" ? special_spelling(kTestSpecial) : marker;
}

template <typename Make>
std::shared_ptr<Grammar> compile_calls(const Make& make, const ToolCallRules& rules) {
  GrammarBuilder b;
  auto root = make(b, rules, spelling);
  EXPECT_TRUE(root.ok()) << root.status().message();
  auto g = Grammar::compile(b, *root, test_vocabulary());
  EXPECT_TRUE(g.ok());
  return *g;
}

TEST(ToolCalls, Cmd4TakesDeclaredToolsInTheModelsLayout) {
  auto g = compile_calls(cmd4_tool_calls, kTwoTools);
  std::string end = special_spelling(kTestSpecial);
  std::string one =
      R"({"tool_call_id": "0", "tool_name": "read", "parameters": {"path": "a.txt"}})";
  std::string two = R"({"tool_call_id": "1", "tool_name": "list \"x\"", "parameters": {}})";
  EXPECT_TRUE(accepts(g, "[\n    " + one + "\n]" + end));
  EXPECT_TRUE(accepts(g, "[\n    " + one + ",\n    " + two + "\n]" + end));
  EXPECT_FALSE(accepts(g, "[]" + end));
  EXPECT_FALSE(accepts(g, "[" + one + "]"));
  EXPECT_FALSE(
      accepts(g, R"([{"tool_call_id": "0", "tool_name": "write", "parameters": {}}])" + end));
  EXPECT_FALSE(
      accepts(g, R"([{"tool_call_id": "0", "tool_name": "read", "parameters": {}}])" + end));
  EXPECT_FALSE(accepts(
      g, R"([{"tool_call_id": "0", "tool_name": "list \"x\"", "parameters": {"a":1}}])" + end));
}

TEST(ToolCalls, WithoutParallelOneCallIsAll) {
  ToolCallRules rules = kTwoTools;
  rules.parallel = false;
  auto g = compile_calls(cmd4_tool_calls, rules);
  std::string call = R"({"tool_call_id": "0", "tool_name": "list \"x\"", "parameters": {}})";
  EXPECT_TRUE(accepts(g, "[" + call + "]" + special_spelling(kTestSpecial)));
  EXPECT_FALSE(accepts(g, "[" + call + "," + call + "]" + special_spelling(kTestSpecial)));
}

TEST(ToolCalls, HermesTakesOneOrMoreBlocks) {
  auto g = compile_calls(hermes_tool_calls, kTwoTools);
  std::string call = "\n{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}\n</tool_call>";
  EXPECT_TRUE(accepts(g, call));
  EXPECT_TRUE(accepts(g, call + "\n<tool_call>" + call));
  EXPECT_FALSE(accepts(g, call + "\n<tool_call>"));
}

TEST(ToolCalls, ABadSchemaNamesTheTool) {
  GrammarBuilder b;
  auto root = cmd4_tool_calls(
      b, {.tools = {{"a", Json()}, {"b", Json::parse(R"({"properties":{"x":{"not":{}}}})")}}},
      spelling);
  ASSERT_FALSE(root.ok());
  EXPECT_NE(root.status().message().find("tools[1].function.parameters/properties/x/not"),
            std::string::npos);
}

TEST(ToolCalls, ParametersAreAnObject) {
  GrammarBuilder b;
  auto root = cmd4_tool_calls(b, {.tools = {{"a", Json{{"type", "array"}}}}}, spelling);
  ASSERT_FALSE(root.ok());
  EXPECT_NE(root.status().message().find("tools[0].function.parameters/type"), std::string::npos);
}

TEST(ToolCalls, RandomCallsAlwaysParse) {
  auto g = compile_calls(cmd4_tool_calls, kTwoTools);
  std::mt19937 random(8);
  for (int i = 0; i < 100; ++i) {
    std::string text = random_text(g, random, 60);
    ASSERT_TRUE(text.ends_with(special_spelling(kTestSpecial)));
    Json calls = Json::parse(text.substr(0, text.size() - 4));
    for (const Json& call : calls) EXPECT_TRUE(call["parameters"].is_object());
  }
}

}  // namespace
}  // namespace nmc
