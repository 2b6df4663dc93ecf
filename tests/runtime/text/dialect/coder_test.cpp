// Calls between tags, as Qwen3-Coder writes them.
#include <gtest/gtest.h>

#include "tests/runtime/text/dialect/transcript.h"

namespace nmc {
namespace {

const Reading kCoder{.dialect = Dialect::kCoder, .start = StartMode::kContent};

Transcript coder_said(std::string content, std::vector<Call> calls = {}) {
  return {"", std::move(content), std::move(calls), ""};
}

std::string parameter(const std::string& key, const std::string& value) {
  return "<parameter=" + key + ">\n" + value + "\n</parameter>\n";
}

std::string coder_call(const std::string& name, const std::string& parameters) {
  return "<tool_call>\n<function=" + name + ">\n" + parameters + "</function>\n</tool_call>";
}

// Parameters are text, null or text, JSON, or nobody knows, by the first letter of their names.
Reading typed() {
  Reading how = kCoder;
  how.parameter_kind = [](const std::string& tool, const std::string& key) {
    EXPECT_EQ(tool, "f");
    return key[0] == 't'   ? ParameterKind::kText
           : key[0] == 'n' ? ParameterKind::kTextOrNull
           : key[0] == 'j' ? ParameterKind::kJson
                           : ParameterKind::kUnknown;
  };
  return how;
}

std::string arguments(const std::string& parameters) {
  const Transcript t = read(coder_call("f", parameters), typed());
  EXPECT_EQ(t.calls.size(), 1u);
  EXPECT_TRUE(t.calls.empty() || t.calls[0].complete) << t;
  return t.calls.empty() ? "" : t.calls[0].arguments;
}

TEST(Coder, OneCall) {
  EXPECT_EQ(
      read("Sure.\n" + coder_call("f", parameter("x", "Paris") + parameter("y", "3")), kCoder),
      coder_said("Sure.", {{"f", R"({"x": "Paris", "y": 3})", "", true}}));
  EXPECT_EQ(read(coder_call("f", ""), kCoder), coder_said("", {{"f", "{}", "", true}}));
}

TEST(Coder, SeveralCalls) {
  const std::vector<Call> calls{{"f", R"({"x": 1})", "", true}, {"g", "{}", "", true}};
  const std::string f = coder_call("f", parameter("x", "1"));
  EXPECT_EQ(read(f + "\n" + coder_call("g", ""), kCoder), coder_said("", calls));
  EXPECT_EQ(read("<tool_call><function=f><parameter=x>1</parameter></function><function=g>"
                 "</function></tool_call>",
                 kCoder),
            coder_said("", calls));
}

TEST(Coder, TextStandsAsItIs) {
  EXPECT_EQ(arguments(parameter("t", "3")), R"({"t": "3"})");
  EXPECT_EQ(arguments(parameter("t", "")), R"({"t": ""})");
  EXPECT_EQ(arguments(parameter("t", "  a\n\n\tb \"c\" \\ é\x01\n")),
            R"({"t": "  a\n\n\tb \"c\" \\ é\u0001\n"})");
  EXPECT_EQ(arguments(parameter("t", "<b> </para </function> <parameter=x> </tool_call>")),
            R"({"t": "<b> </para </function> <parameter=x> </tool_call>"})");
  EXPECT_EQ(arguments("<parameter=t>x</parameter>"), R"({"t": "x"})");
}

TEST(Coder, OtherValuesAreJson) {
  EXPECT_EQ(arguments(parameter("j", R"({"a": "</parameter>", "b": [1, 2]})")),
            R"({"j": {"a":"</parameter>","b":[1,2]}})");
  EXPECT_EQ(arguments(parameter("j", "\"s\"")), R"({"j": "s"})");
  EXPECT_EQ(arguments(parameter("j", "no json")), R"({"j": "no json"})");
  EXPECT_EQ(arguments(parameter("n", "null") + parameter("n2", "3")), R"({"n": null, "n2": "3"})");
  EXPECT_EQ(arguments(parameter("u", "true") + parameter("v", "\"q\"")),
            R"({"u": true, "v": "\"q\""})");
}

TEST(Coder, OfARepeatedParameterTheFirstCounts) {
  EXPECT_EQ(arguments(parameter("t", "a") + parameter("t", "b") + parameter("j", "1")),
            R"({"t": "a", "j": 1})");
}

TEST(Coder, ACallCutAnywhereIsNeverComplete) {
  const std::string text = coder_call("f", parameter("t", "x<y") + parameter("j", "[\"<\"]"));
  const size_t whole = text.find("</function>") + 11;
  for (size_t length = 0; length < text.size(); ++length) {
    Reading how = typed();
    how.cut = true;
    for (const Call& c : read(text.substr(0, length), how).calls) {
      EXPECT_EQ(c.complete, length >= whole) << length;
    }
  }
}

TEST(Coder, MissingEndsAreForgiven) {
  const std::vector<Call> one{{"f", R"({"x": 1})", "", true}};
  EXPECT_EQ(read("<tool_call>\n<function=f>\n" + parameter("x", "1") + "</tool_call>", kCoder),
            coder_said("", one));
  EXPECT_EQ(
      read("<tool_call>\n<function=f>\n" + parameter("x", "1") + "</function><|im_end|>", kCoder),
      coder_said("", one));
}

TEST(Coder, AParameterBehindTheCallIsNothing) {
  const std::vector<Call> one{{"f", R"({"x": 1})", "", true}};
  EXPECT_EQ(read("<tool_call>\n<function=f>\n" + parameter("x", "1") + "</function>\n" +
                     parameter("y", "2") + "</function>\n</tool_call>",
                 kCoder),
            coder_said("", one));
}

TEST(Coder, AnAnswerMayMentionTheTags) {
  EXPECT_EQ(read("Write <function=f> and <parameter=x>.", kCoder),
            coder_said("Write <function=f> and <parameter=x>."));
}

TEST(Coder, JsonCallsAreReadAsWell) {
  EXPECT_EQ(read("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>", kCoder),
            coder_said("", {{"f", R"({"x": 1})", "", true}}));
}

TEST(Coder, IsKnownByItsTemplate) {
  const auto none = [](std::string_view) { return false; };
  EXPECT_EQ(detect_dialect("... <tool_call>\n<function= ...", none), Dialect::kCoder);
  EXPECT_EQ(detect_dialect("... <tool_call>\n{\"name\" ...", none), Dialect::kHermes);
}

TEST(ParameterKind, IsWhatTheSchemaSays) {
  const std::pair<const char*, ParameterKind> kinds[] = {
      {R"({"type": "string"})", ParameterKind::kText},
      {R"({"type": ["string"]})", ParameterKind::kText},
      {R"({"enum": ["a", "b"]})", ParameterKind::kText},
      {R"({"const": "a"})", ParameterKind::kText},
      {R"({"type": ["null", "string"]})", ParameterKind::kTextOrNull},
      {R"({"enum": ["a", null]})", ParameterKind::kTextOrNull},
      {R"({"enum": ["a", 1]})", ParameterKind::kJson},
      {R"({"type": "integer"})", ParameterKind::kJson},
      {R"({"anyOf": [{"type": "string"}, {"type": "null"}]})", ParameterKind::kJson},
      {R"({"$ref": "#/$defs/x", "type": "string"})", ParameterKind::kJson},
      {R"({"description": "x"})", ParameterKind::kUnknown},
      {"true", ParameterKind::kUnknown}};
  for (const auto& [schema, kind] : kinds) {
    EXPECT_EQ(parameter_kind(Json::parse(schema)), kind) << schema;
  }
  const Json tool = Json::parse(R"({"properties": {"x": {"type": "string"}}})");
  EXPECT_EQ(parameter_kind(tool, "x"), ParameterKind::kText);
  EXPECT_EQ(parameter_kind(tool, "y"), ParameterKind::kUnknown);
  EXPECT_EQ(parameter_kind(Json(), "y"), ParameterKind::kUnknown);
}

}  // namespace
}  // namespace nmc
