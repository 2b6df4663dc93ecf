// Answers that must have a form, from a device that says anything.
#include <regex>
#include <set>

#include "server/api/answer_grammar.h"
#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

Json tool(const char* name, const Json& parameters) {
  return {{"type", "function"}, {"function", {{"name", name}, {"parameters", parameters}}}};
}

Json one_required(const char* key, const Json& schema) {
  return {{"type", "object"},
          {"properties", {{key, schema}}},
          {"required", Json::array({key})},
          {"additionalProperties", false}};
}

Json city_tool() {
  return tool("weather",
              one_required("city", {{"type", "string"}, {"enum", Json::array({"Bonn", "Köln"})}}));
}

Json day_tool() {
  return tool("set_day", one_required("day", {{"type", "boolean"}}));
}

Json reference(const char* name) {
  return {{"type", "function"}, {"function", {{"name", name}}}};
}

Json allowed(const char* mode, const char* name) {
  return {{"type", "allowed_tools"},
          {"allowed_tools", {{"mode", mode}, {"tools", Json::array({reference(name)})}}}};
}

class ConstrainedTest : public ApiTest {
 protected:
  ConstrainedTest() : ApiTest(Setup{.context = 8192}) { say("x"); }

  Json body(const Json& more) {
    Json body =
        chat_body({{"tools", Json::array({city_tool(), day_tool()})}, {"max_tokens", 4000}});
    body.update(more);
    return body;
  }

  Json choice(const Json& body) { return answer(kChat, body)["choices"][0]; }

  // Checks that every call is one of the tools with fitting arguments, and returns their names.
  std::set<std::string> check_calls(const Json& message) {
    std::set<std::string> names;
    std::set<std::string> ids;
    for (const Json& call : message.value("tool_calls", Json::array())) {
      EXPECT_TRUE(call["id"].is_string());
      EXPECT_TRUE(ids.insert(call["id"].get<std::string>()).second);
      std::string name = call["function"]["name"];
      names.insert(name);
      Json arguments = Json::parse(call["function"]["arguments"].get<std::string>());
      EXPECT_EQ(arguments.size(), 1u) << arguments;
      if (name == "weather") {
        EXPECT_TRUE(arguments["city"] == "Bonn" || arguments["city"] == "Köln") << arguments;
      } else {
        EXPECT_EQ(name, "set_day");
        EXPECT_TRUE(arguments["day"].is_boolean()) << arguments;
      }
    }
    return names;
  }

  std::string message_of(const Json& body, int status = 400) {
    return refusal(kChat, body, status).value("message", "");
  }
};

TEST_F(ConstrainedTest, ARequiredCallIsMade) {
  std::set<std::string> names;
  for (uint32_t noise = 1; noise <= 20; ++noise) {
    device_->noise = noise;
    Json request = body({{"tool_choice", "required"}, {"seed", noise}});
    if (noise % 2) request["reasoning_effort"] = "none";
    Json whole = choice(request);
    EXPECT_EQ(whole["finish_reason"], "tool_calls");
    EXPECT_TRUE(whole["message"]["content"].is_null()) << whole;
    ASSERT_FALSE(whole["message"].value("tool_calls", Json::array()).empty()) << whole;
    EXPECT_EQ(whole["message"].contains("reasoning_content"), noise % 2 == 0) << whole;
    names.merge(check_calls(whole["message"]));
    Json streamed = assemble(events(kChat, request));
    EXPECT_EQ(streamed["finish_reason"], "tool_calls");
    const Json& calls = whole["message"]["tool_calls"];
    ASSERT_EQ(streamed["message"]["tool_calls"].size(), calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(streamed["message"]["tool_calls"][i]["function"], calls[i]["function"]);
    }
  }
  EXPECT_EQ(names.size(), 2u);
}

TEST_F(ConstrainedTest, ANamedToolIsTheOneThatIsCalled) {
  for (uint32_t noise = 1; noise <= 8; ++noise) {
    device_->noise = noise;
    Json request = body({{"reasoning_effort", "none"}, {"parallel_tool_calls", false}});
    request["tool_choice"] = noise % 2 ? reference("set_day") : allowed("required", "set_day");
    Json message = choice(request)["message"];
    ASSERT_EQ(message.value("tool_calls", Json::array()).size(), 1u) << message;
    EXPECT_EQ(check_calls(message), std::set<std::string>{"set_day"});
  }
}

TEST_F(ConstrainedTest, FreeAnswersCallOnlyWhatThereIs) {
  // The device would call something else, with arguments of another kind.
  say("Hm.<|END_THINKING|><|START_TEXT|>Well.<|END_TEXT|><|START_ACTION|>[{\"tool_call_id\": "
      "\"0\", \"tool_name\": \"rm\", \"parameters\": {\"city\": 3}}]<|END_ACTION|>");
  for (const Json& request :
       {body({{"temperature", 10}}), body({{"tool_choice", allowed("auto", "weather")}})}) {
    Json whole = choice(request);
    EXPECT_EQ(whole["message"]["content"], "Well.");
    EXPECT_EQ(whole["message"]["reasoning_content"], "Hm.");
    ASSERT_FALSE(whole["message"].value("tool_calls", Json::array()).empty()) << whole;
    std::set<std::string> names = check_calls(whole["message"]);
    if (request.contains("tool_choice")) {
      EXPECT_EQ(names, std::set<std::string>{"weather"});
    }
  }
}

TEST_F(ConstrainedTest, WithoutToolsNoCallIsOpened) {
  say("<|START_ACTION|>[]<|END_ACTION|>");
  Json request = body({{"reasoning_effort", "none"}, {"tool_choice", "none"}, {"max_tokens", 40}});
  // With the marker banned, all other tokens are equally likely.
  request["logit_bias"] = {{"97", 10}};
  std::string content = choice(request)["message"]["content"];
  EXPECT_TRUE(content.starts_with("a")) << content;
}

TEST_F(ConstrainedTest, WhatCannotBeEnforcedIsRefused) {
  EXPECT_NE(message_of(body({{"tool_choice", reference("rm")}})).find("\"rm\""), std::string::npos);
  for (const Json& choice :
       {Json("maybe"), Json(3), Json{{"type", "function"}}, Json{{"type", "allowed_tools"}},
        allowed("none", "weather"), allowed("auto", "rm")}) {
    EXPECT_NE(message_of(body({{"tool_choice", choice}})).find("tool_choice"), std::string::npos);
  }
  EXPECT_NE(message_of(chat_body({{"tool_choice", "required"}})).find("tool_choice"),
            std::string::npos);
  Json odd = tool("odd", one_required("x", {{"type", "object"}, {"unevaluatedProperties", 3}}));
  Json request = body({{"tools", Json::array({city_tool(), odd})}});
  for (const Json& choice : {Json("auto"), Json("required"), reference("odd")}) {
    request["tool_choice"] = choice;
    EXPECT_NE(message_of(request).find("tools[1].function.parameters/properties/x"),
              std::string::npos)
        << message_of(request);
  }
  request["tool_choice"] = reference("weather");
  choice(request);
}

TEST_F(ConstrainedTest, AnAnswerHasTheFormatThatWasAskedFor) {
  Json schema = one_required("day", {{"type", "boolean"}});
  Json format = {{"type", "json_schema"},
                 {"json_schema", {{"name", "day"}, {"strict", true}, {"schema", schema}}}};
  for (uint32_t noise = 1; noise <= 20; ++noise) {
    device_->noise = noise;
    Json request = chat_body({{"max_tokens", 4000}, {"seed", noise}});
    if (noise % 2) request["reasoning_effort"] = "none";
    request[noise % 3 ? "response_format" : "json_schema"] = noise % 3 ? format : schema;
    Json whole = choice(request);
    EXPECT_EQ(whole["finish_reason"], "stop");
    Json value = Json::parse(whole["message"]["content"].get<std::string>());
    EXPECT_TRUE(value.size() == 1 && value["day"].is_boolean()) << value;
    Json streamed = assemble(events(kChat, request));
    EXPECT_EQ(streamed["message"]["content"], whole["message"]["content"]);
  }
}

TEST_F(ConstrainedTest, ObjectsAndGrammars) {
  say("{\"a\": [1, \"<|END\"]}");
  Json object = {{"type", "json_object"}};
  Json request = {{"prompt", "x"}, {"max_tokens", 100}, {"response_format", object}};
  EXPECT_EQ(answer(kCompletions, request)["choices"][0]["text"], "{\"a\": [1, \"<|END\"]}");
  device_->noise = 1;
  Json grammar = {{"prompt", "x"}, {"grammar", "root ::= (\"a\" | \"b\"){7}"}};
  std::string text = answer(kCompletions, grammar)["choices"][0]["text"];
  EXPECT_EQ(text.size(), 7u);
  EXPECT_EQ(text.find_first_not_of("ab"), std::string::npos);
  request = chat_body({{"grammar", "root ::= \"yes\" | \"no\""}, {"reasoning_effort", "none"}});
  text = choice(request)["message"]["content"];
  EXPECT_TRUE(text == "yes" || text == "no") << text;
}

TEST_F(ConstrainedTest, TheConstraintsOfVllm) {
  const Json list = {"yes", "no", "not at all"}, schema = {{"type", "boolean"}};
  const std::tuple<Json, const char*> formats[] = {
      {{{"guided_choice", list}}, "yes|no|not at all"},
      {{{"structured_outputs", {{"choice", list}}}}, "yes|no|not at all"},
      {{{"guided_regex", "[ab]{3}-\\d"}}, "[ab]{3}-[0-9]"},
      {{{"structured_outputs", {{"regex", "^(\"|\u00e9){2}$"}, {"backend", "x"}}}},
       "(\"|\u00e9){2}"},
      {{{"guided_json", schema}}, "true|false"},
      {{{"structured_outputs", {{"json", schema.dump()}}}}, "true|false"},
      {{{"guided_grammar", "root ::= \"a\" | \"b\""}}, "a|b"}};
  for (uint32_t noise = 1; noise <= 10; ++noise) {
    device_->noise = noise;
    for (const auto& [format, pattern] : formats) {
      Json request = format;
      request.update({{"prompt", "x"}, {"max_tokens", 4000}, {"seed", noise}});
      const Json whole = answer(kCompletions, request)["choices"][0];
      EXPECT_EQ(whole["finish_reason"], "stop") << format;
      EXPECT_TRUE(std::regex_match(whole["text"].get<std::string>(), std::regex(pattern)))
          << format << whole;
      Json chat = chat_body(format);
      chat.update({{"max_tokens", 4000}, {"seed", noise}, {"reasoning_effort", "none"}});
      EXPECT_TRUE(std::regex_match(choice(chat)["message"]["content"].get<std::string>(),
                                   std::regex(pattern)))
          << format;
    }
  }
  device_->noise = 0;
  say("{\"a\": [1]}, and more");
  for (const Json& any : {Json{{"structured_outputs", {{"json_object", true}}}},
                          Json{{"json_schema", Json::object()}}}) {
    Json request = any;
    request.update({{"prompt", "x"}, {"max_tokens", 100}});
    EXPECT_EQ(answer(kCompletions, request)["choices"][0]["text"], "{\"a\": [1]}") << any;
  }
  Json off = {{"prompt", "x"}, {"structured_outputs", Json::object()}, {"guided_json", nullptr}};
  say("free");
  EXPECT_EQ(answer(kCompletions, off)["choices"][0]["text"], "free");
}

TEST_F(ConstrainedTest, FormatsThatCannotBeEnforcedNameTheirPlace) {
  Json odd = one_required("x", {{"unevaluatedProperties", 3}});
  const std::tuple<const char*, Json, const char*> wrong[] = {
      {"response_format", 3, "response_format"},
      {"response_format", {{"type", "xml"}}, "response_format"},
      {"response_format", {{"type", "json_schema"}}, "json_schema"},
      {"response_format",
       {{"type", "json_schema"}, {"json_schema", {{"schema", odd}}}},
       "response_format.json_schema.schema/properties/x"},
      {"json_schema", odd, "json_schema/properties/x"},
      {"json_schema", 3, "json_schema"},
      {"grammar", 3, "grammar"},
      {"grammar", "root ::= x", "grammar"},
      {"guided_choice", Json::array(), "guided_choice"},
      {"guided_choice", {"a", 1}, "guided_choice"},
      {"guided_choice", {"a", "a"}, "\"guided_choice\": choice 1 repeats"},
      {"guided_regex", "(", "guided_regex"},
      {"guided_regex", 3, "guided_regex"},
      {"guided_json", "{", "\"guided_json\": the JSON Schema is not valid JSON"},
      {"structured_outputs", 3, "structured_outputs"},
      {"structured_outputs", {{"choice", "a"}}, "structured_outputs.choice"},
      {"structured_outputs", {{"json", odd}}, "structured_outputs.json/properties/x"},
      {"structured_outputs", {{"structural_tag", "x"}}, "structured_outputs.structural_tag"},
      {"structured_outputs", {{"regex", "a"}, {"grammar", "root ::= \"a\""}}, "only one"}};
  for (const auto& [key, value, place] : wrong) {
    for (const char* path : {kCompletions, kChat}) {
      Json request = path == kChat ? chat_body() : Json{{"prompt", "x"}};
      request[key] = value;
      std::string message = refusal(path, request).value("message", "");
      EXPECT_NE(message.find(place), std::string::npos) << key << ": " << message;
    }
  }
  Json both = chat_body({{"grammar", "root ::= \"a\""}, {"json_schema", {{"type", "null"}}}});
  EXPECT_NE(message_of(both).find("only one"), std::string::npos);
}

class DialectTest : public ApiTest {
 protected:
  DialectTest() : ApiTest(Setup{.load = false}) {}

  Result<api::Constraint> constraint(Dialect dialect, const Json& more,
                                     StartMode start = StartMode::kContent) {
    Json body = chat_body({{"tools", Json::array({city_tool(), day_tool()})}});
    body.update(more);
    auto request = api::parse_chat_completion_request(body, {});
    EXPECT_TRUE(request.ok()) << request.status().message();
    return api::chat_constraint(*unloaded_->grammars, dialect, start, *request);
  }
};

// This vocabulary has no token for the tags, so that they are text.
TEST_F(DialectTest, HermesCallsStandInTags) {
  auto forced = constraint(Dialect::kHermes, {{"tool_choice", reference("set_day")}});
  ASSERT_TRUE(forced.ok()) << forced.status().message();
  ASSERT_TRUE(forced->grammar);
  EXPECT_FALSE(forced->trigger);
  std::string call =
      "<tool_call>\n{\"name\": \"set_day\", \"arguments\": {\"day\": true}}\n</tool_call>";
  GrammarMatcher good(forced->grammar);
  EXPECT_EQ(good.accept_bytes(call), call.size());
  EXPECT_TRUE(good.can_end());
  for (const char* wrong : {"Hello", "<tool_call>{\"name\": \"weather\"",
                            "<tool_call>{\"name\": \"set_day\", \"arguments\": {\"day\": 1"}) {
    GrammarMatcher bad(forced->grammar);
    EXPECT_LT(bad.accept_bytes(wrong), std::string_view(wrong).size()) << wrong;
  }
  auto reasoning =
      constraint(Dialect::kHermes, {{"tool_choice", "required"}}, StartMode::kReasoning);
  EXPECT_EQ(reasoning.status().code(), StatusCode::kUnsupported);
  EXPECT_FALSE(constraint(Dialect::kHermes, Json::object())->grammar);
}

TEST_F(DialectTest, DialectsWithoutACallGrammarRefuseToForceCalls) {
  for (Dialect dialect : {Dialect::kPlain, Dialect::kCmd3}) {
    EXPECT_FALSE(constraint(dialect, Json::object())->grammar);
    for (const Json& choice :
         {Json("required"), reference("weather"), allowed("auto", "weather")}) {
      auto refused = constraint(dialect, {{"tool_choice", choice}});
      EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
    }
    auto formatted = constraint(
        dialect, {{"tool_choice", "none"}, {"response_format", {{"type", "json_object"}}}});
    ASSERT_TRUE(formatted.ok());
    EXPECT_TRUE(formatted->grammar);
  }
}

}  // namespace
}  // namespace nmc::test
