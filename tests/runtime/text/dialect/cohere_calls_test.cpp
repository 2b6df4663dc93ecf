// Tool calls in Cohere's dialects, through call_reader.
#include <gtest/gtest.h>

#include "runtime/base/json.h"
#include "runtime/text/dialect/call_reader.h"
#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

std::string action(const std::string& body) {
  return "<|START_ACTION|>" + body + "<|END_ACTION|><|END_OF_TURN_TOKEN|>";
}

std::string call(const std::string& parameters, const std::string& name = "f",
                 const std::string& id = "0") {
  return "{\"tool_call_id\": \"" + id + "\", \"tool_name\": \"" + name +
         "\", \"parameters\": " + parameters + "}";
}

// The only call of an action block with these parameters.
Call only_call(const std::string& parameters) {
  Transcript t = read(action("[\n    " + call(parameters) + "\n]"));
  EXPECT_EQ(t.calls.size(), 1u) << parameters;
  return t.calls.empty() ? Call{} : t.calls[0];
}

TEST(CohereCalls, OneCallAfterThinking) {
  Transcript t = read("hm<|END_THINKING|>\n" + action("[\n    " + call("{\"x\": 1}") + "\n]"));
  EXPECT_EQ(t, (Transcript{"hm", "", {{"f", "{\"x\": 1}", "0", true}}, ""}));
}

TEST(CohereCalls, ParallelCallsHaveIndicesOfTheirOwn) {
  Transcript t = read(
      action("[\n    " + call("{\"x\": 1}") + ",\n    " + call("{\"y\": [2]}", "g", "1") + "\n]"));
  EXPECT_EQ(t.calls,
            (std::vector<Call>{{"f", "{\"x\": 1}", "0", true}, {"g", "{\"y\": [2]}", "1", true}}));
}

TEST(CohereCalls, EveryKindOfArgument) {
  for (std::string value :
       {"1", "-7", "2.5e3", "null", "true", "false", "\"s\"", "\"\"", "{}", "[]",
        "{\"a\": {\"b\": [1, {\"c\": null}]}}", "[1, [2], \"x\"]", "\"مرحبا 👋\"",
        R"("a \"quoted\" \\ back\nline")", R"("{[,]} }]")", R"("ends in \\")"}) {
    std::string parameters = "{\"v\": " + value + ", \"w\": 0}";
    EXPECT_EQ(only_call(parameters), (Call{"f", parameters, "0", true}));
  }
}

TEST(CohereCalls, MarkersInsideStringsAreData) {
  std::string parameters =
      R"({"text": "<|END_ACTION|> and <|START_TEXT|> and \"<|END_OF_TURN_TOKEN|>"})";
  EXPECT_EQ(only_call(parameters), (Call{"f", parameters, "0", true}));
}

TEST(CohereCalls, IndentedSourceSurvives) {
  std::string parameters =
      R"({"code": "def f(x):\n        if x < 1:\n            return '<b>'\n    return x"})";
  EXPECT_EQ(only_call(parameters).arguments, parameters);
}

TEST(CohereCalls, PrettyPrintedParametersStayJson) {
  Call c = only_call("{\n        \"a\": 1,\n        \"b\": [\n            2\n        ]\n    }");
  auto parsed = parse_json(c.arguments, "arguments");
  ASSERT_TRUE(parsed.ok() && c.complete);
  EXPECT_EQ(dump_json(*parsed), "{\"a\":1,\"b\":[2]}");
}

TEST(CohereCalls, EmptyAndMissingParametersAreAnEmptyObject) {
  EXPECT_EQ(only_call("{}").arguments, "{}");
  EXPECT_EQ(only_call("null").arguments, "{}");
  Transcript t = read(action(R"([{"tool_call_id": "0", "tool_name": "f"}])"));
  EXPECT_EQ(t.calls, (std::vector<Call>{{"f", "{}", "0", true}}));
}

TEST(CohereCalls, EscapedQuoteInTheName) {
  EXPECT_EQ(read(action("[" + call("{}", R"(a\"b)") + "]")).calls[0].name, "a\"b");
}

TEST(CohereCalls, KeysInAnyOrderAndUnknownOnes) {
  Transcript t = read(action(
      R"([{"note": {"tool_name": "no"}, "parameters": {"x": 1}, "tool_call_id": "7", "extra": [1, "}"], "tool_name": "f"}])"));
  EXPECT_EQ(t.calls, (std::vector<Call>{{"f", "{\"x\": 1}", "7", true}}));
}

TEST(CohereCalls, OfRepeatedKeysTheFirstCounts) {
  Transcript t = read(action(
      R"([{"tool_name": "f", "parameters": {"x": 1}, "parameters": {"x": 2}, "tool_name": "g"}])"));
  EXPECT_EQ(t.calls, (std::vector<Call>{{"f", "{\"x\": 1}", "", true}}));
}

TEST(CohereCalls, ParametersWrittenAsAStringAreUnwrapped) {
  EXPECT_EQ(only_call(R"("{\"x\": \"y\"}")"), (Call{"f", "{\"x\": \"y\"}", "0", true}));
  EXPECT_FALSE(only_call(R"("x")").complete);
}

TEST(CohereCalls, ParametersThatAreNoObjectAreNotPresentedAsComplete) {
  EXPECT_FALSE(only_call("[1]").complete);
  EXPECT_FALSE(only_call("5").complete);
  EXPECT_FALSE(only_call("").complete);
  EXPECT_FALSE(only_call("{\"time\": 15:30}").complete);
}

TEST(CohereCalls, AMissingCommaBetweenCallsIsForgiven) {
  Transcript t = read(action("[" + call("{}") + call("{\"x\":1}", "g", "1") + "]"));
  ASSERT_EQ(t.calls.size(), 2u);
  EXPECT_TRUE(t.calls[0].complete && t.calls[1].complete);
}

TEST(CohereCalls, OneObjectInsteadOfAList) {
  EXPECT_EQ(read(action(call("{\"x\": 1}"))).calls.size(), 1u);
}

TEST(CohereCalls, GarbageIsNoCall) {
  for (std::string body :
       {"[!!!]", "", "[]", "[{}]", "[{\"tool_call_id\": \"0\"}]", "]]}}", "[1, 2]",
        "[{\"tool_name\": 5, \"parameters\": {}}]", "{\"tool_name\": \"\"}"}) {
    EXPECT_EQ(read("x<|END_THINKING|>" + action(body)), (Transcript{"x", "", {}, ""})) << body;
  }
}

TEST(CohereCalls, AnActionWithoutItsEndMarkerStillCounts) {
  Transcript t = read("<|START_ACTION|>[" + call("{\"x\": 1}"));
  EXPECT_EQ(t.calls, (std::vector<Call>{{"f", "{\"x\": 1}", "0", true}}));
}

TEST(CohereCalls, ACallCutAnywhereIsNeverComplete) {
  std::string text = "<|START_ACTION|>[" + call(R"({"path": "a\"}", "deep": {"n": [1, 2]}})");
  for (size_t length = 0; length < text.size(); ++length) {
    Transcript t = read(text.substr(0, length), {.cut = true});
    for (const Call& c : t.calls) EXPECT_FALSE(c.complete) << text.substr(0, length);
    EXPECT_EQ(t.content, "");
  }
  EXPECT_TRUE(read(text, {.cut = true}).calls[0].complete);
}

TEST(CohereCalls, AMarkerOutsideOfStringsEndsABrokenCall) {
  Transcript t = read(action("[{\"tool_name\": \"f\", \"parameters\": {\"x\": 1"));
  EXPECT_EQ(t.calls, (std::vector<Call>{{"f", "{\"x\": 1", "", false}}));
}

TEST(CohereCalls, TextAndCallsInOneTurn) {
  Transcript t = read("<|END_THINKING|><|START_TEXT|>Let me look.<|END_TEXT|>" +
                      action("[" + call("{}") + "]"));
  EXPECT_EQ(t, (Transcript{"", "Let me look.", {{"f", "{}", "0", true}}, ""}));
}

TEST(CohereCalls, AnActionAfterAForcedEndOfThinking) {
  Transcript t = read("long<|END_THINKING|><|END_THINKING|>" + action("[" + call("{}") + "]"));
  EXPECT_EQ(t, (Transcript{"long", "", {{"f", "{}", "0", true}}, ""}));
}

TEST(CohereCalls, WithoutToolsCallsAreNeitherReportedNorShown) {
  Transcript t = read("<|END_THINKING|>" + action("[" + call("{}") + "]"), {.tools = false});
  EXPECT_EQ(t, (Transcript{}));
}

TEST(CohereCalls, TheHeadIsAnnouncedBeforeTheArgumentsAreThere) {
  auto parser = make_parser(Dialect::kCmd4, StartMode::kReasoning);
  std::vector<DialectEvent> events;
  parser->feed("<|START_ACTION|>[{\"tool_call_id\": \"3\", \"tool_name\": \"f\", \"parameters\": {",
               &events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, DialectEvent::Kind::kCallBegin);
  EXPECT_EQ(events[0].model_id, "3");
  EXPECT_EQ(events[1].text, "{");
  events.clear();
  parser->feed("\"path\": \"/a", &events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "\"path\": \"/a");
}

}  // namespace
}  // namespace nmc
