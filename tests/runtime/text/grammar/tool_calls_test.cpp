#include "runtime/text/grammar/tool_calls.h"

#include <gtest/gtest.h>

#include "runtime/text/dialect/dialect.h"
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

const ToolCallRules kTagged{.tools = {{"edit", Json::parse(R"({"type": "object", "properties": {
                 "text": {"type": "string"}, "count": {"type": "integer"},
                 "mode": {"enum": ["r", "w"]}, "note": {"type": ["string", "null"]},
                 "list": {"type": "array", "items": {"$ref": "#/$defs/item"}},
                 "short": {"type": "string", "maxLength": 3}},
               "required": ["text", "count"], "$defs": {"item": {"type": "string"}}})")},
                                      {"stop", Json()}}};

std::string parameter(const std::string& key, const std::string& value) {
  return "<parameter=" + key + ">\n" + value + "\n</parameter>\n";
}

TEST(ToolCalls, CoderTakesParametersBetweenTags) {
  auto g = compile_calls(coder_tool_calls, kTagged);
  const auto call = [](const std::string& parameters, const std::string& name = "edit") {
    return "\n<function=" + name + ">\n" + parameters + "</function>\n</tool_call>";
  };
  const std::string count = parameter("count", "3");
  for (const char* text : {"", "a", "\n\n", "<b> \"x\" \\", "</para", "<</</paramete></function>",
                           "<parameter=x>", "é<"}) {
    EXPECT_TRUE(accepts(g, call(parameter("text", text) + count))) << text;
  }
  const std::string both = parameter("text", "x") + count;
  EXPECT_TRUE(accepts(g, call(both) + "\n<tool_call>" + call("", "stop")));
  EXPECT_TRUE(
      accepts(g, call(both + parameter("mode", "w") + parameter("note", "null") +
                      parameter("list", R"(["</parameter>"])") + parameter("short", "abc"))));
  for (const std::string& wrong :
       {call(count), call(parameter("text", "x")), call(count + parameter("text", "x")),
        call(parameter("text", "x") + parameter("count", "x")), call(both + parameter("mode", "x")),
        call(both + parameter("short", "abcd")), call(both + parameter("more", "x")),
        call(both + parameter("list", "[1]")), call("", "other"), call(both, "stop"),
        call(parameter("text", "a\n</parameter>\n") + count)}) {
    EXPECT_FALSE(accepts(g, wrong)) << wrong;
  }
}

TEST(ToolCalls, CoderEnforcesPatternsOfTexts) {
  auto g = compile_calls(coder_tool_calls, {.tools = {{"f", Json::parse(R"({"properties": {
      "id": {"type": "string", "pattern": "^wf_[^x]{2,4}$"},
      "file": {"type": "string", "pattern": "\\.ts"},
      "when": {"type": ["string", "null"], "format": "date"}}})")}}});
  const auto call = [](const std::string& key, const std::string& value) {
    return "\n<function=f>\n" + parameter(key, value) + "</function>\n</tool_call>";
  };
  EXPECT_TRUE(accepts(g, call("id", "wf_a\n\"")));
  EXPECT_FALSE(accepts(g, call("id", "wf_a")));
  EXPECT_FALSE(accepts(g, call("id", "wf_axb")));
  EXPECT_FALSE(accepts(g, call("id", "wf_a<b")));  // might begin the tag
  EXPECT_TRUE(accepts(g, call("file", "a/b.ts\nmore")));
  EXPECT_FALSE(accepts(g, call("file", "a/b.js")));
  EXPECT_TRUE(accepts(g, call("when", "2026-12-01")));
  EXPECT_TRUE(accepts(g, call("when", "null")));
  EXPECT_FALSE(accepts(g, call("when", "soon")));
}

// A text of the grammar, of pieces that calls are made of: each that fits whole is taken.
std::string random_pieces(const std::shared_ptr<Grammar>& grammar, std::mt19937& random) {
  const std::vector<std::string> pieces = {"a",
                                           "<",
                                           "</",
                                           "</para",
                                           "meter>\n",
                                           "</parameter>\n",
                                           "\n",
                                           "é",
                                           "\"",
                                           "[\"<\"]",
                                           "]",
                                           "3",
                                           "r",
                                           "w",
                                           "null",
                                           "<parameter=",
                                           "parameter=",
                                           "text>\n",
                                           "count>\n",
                                           "mode>\n",
                                           "note>\n",
                                           "list>\n",
                                           "short>\n",
                                           "</function>\n",
                                           "/function>\n",
                                           "function>\n",
                                           "</tool_call>",
                                           "<function=",
                                           "function=",
                                           "edit>\n",
                                           "stop>\n",
                                           "tool_call>",
                                           "/tool_call>",
                                           "/parameter>\n",
                                           "parameter>\n"};
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    const std::string longer = text + pieces[random() % pieces.size()];
    GrammarMatcher matcher(grammar);
    if (matcher.accept_bytes(longer) < longer.size()) continue;
    text = longer;
    if (matcher.can_end()) return text;
  }
  ADD_FAILURE() << "no end: " << text;
  return text;
}

TEST(ToolCalls, RandomCallsOfCoderAreReadAsTheyAreMeant) {
  auto g = compile_calls(coder_tool_calls, kTagged);
  std::mt19937 random(5);
  int complete = 0;
  for (int i = 0; i < 60; ++i) {
    DialectOptions options;
    options.parameter_kind = [](const std::string& tool, const std::string& key) {
      return parameter_kind(kTagged.tools[tool == "stop"].parameters, key);
    };
    auto parser = make_parser(Dialect::kCoder, StartMode::kContent, options);
    std::vector<DialectEvent> events;
    parser->feed("<tool_call>" + random_pieces(g, random), &events);
    parser->finish(false, &events);
    std::string arguments, name;
    for (const DialectEvent& event : events) {
      if (event.kind == DialectEvent::Kind::kCallBegin) name = event.name, arguments.clear();
      if (event.kind == DialectEvent::Kind::kCallArguments) arguments += event.text;
      if (event.kind != DialectEvent::Kind::kCallEnd) continue;
      ASSERT_TRUE(event.complete) << arguments;
      ++complete;
      const Json json = Json::parse(arguments);
      if (name == "stop") {
        EXPECT_EQ(json, Json::object());
        continue;
      }
      EXPECT_TRUE(json["text"].is_string() && json["count"].is_number_integer()) << arguments;
      const Json mode = json.value("mode", Json("r")), note = json.value("note", Json());
      EXPECT_TRUE(mode == "r" || mode == "w") << arguments;
      EXPECT_TRUE(note.is_string() || note.is_null()) << arguments;
      EXPECT_TRUE(json.value("list", Json::array()).is_array()) << arguments;
    }
  }
  EXPECT_EQ(complete, 60);
}

TEST(ToolCalls, CoderRefusesWhatItCannotEnforce) {
  for (auto [schema, place] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"properties": {"x": {"type": "string", "pattern": "a+", "maxLength": 3}}})",
            "tools[0].function.parameters/properties/x/pattern"},
           {R"({"properties": {"x": {"type": "string", "pattern": "(?=a)b"}}})",
            "tools[0].function.parameters/properties/x/pattern"},
           {R"({"properties": {"x<": {"type": "string"}}})", "properties/x<"},
           {R"({"required": ["x"]})", "parameters/required"},
           {R"({"type": "object", "anyOf": [{"type": "object"}]})", "parameters/anyOf"},
           {R"({"properties": {"x": {"enum": ["</parameter>"]}}})", "properties/x"}}) {
    GrammarBuilder b;
    auto root = coder_tool_calls(b, {.tools = {{"f", Json::parse(schema)}}}, spelling);
    ASSERT_FALSE(root.ok()) << schema;
    EXPECT_NE(root.status().message().find(place), std::string::npos) << root.status().message();
  }
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
