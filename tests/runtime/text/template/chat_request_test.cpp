#include "runtime/text/template/chat_request.h"

#include <gtest/gtest.h>

#include "runtime/base/file.h"
#include "tests/runtime/text/template/golden.h"

namespace nmc {
namespace {

const char kEcho[] = "{{ messages | tojson }}";

std::unique_ptr<ChatTemplate> compiled(const std::string& source) {
  auto t = compile_template(source, golden_options());
  EXPECT_TRUE(t.ok()) << t.status().message();
  return t.ok() ? std::move(*t) : nullptr;
}

Json parsed(const std::string& text) {
  auto json = parse_json(text, "test");
  EXPECT_TRUE(json.ok()) << json.status().message();
  return json.ok() ? *json : Json();
}

// The variables that `messages` (JSON text) become for a template, or the error.
Result<Json> variables_of(const std::string& messages, const std::string& source = kEcho,
                          const TemplateTraits& traits = {}, const Json& kwargs = nullptr) {
  ChatRequest request;
  request.messages = parsed(messages);
  request.template_kwargs = kwargs;
  return template_variables(request, *compiled(source), traits, {{"bos_token", "<s>"}});
}

std::string messages_of(const std::string& messages, const std::string& source = kEcho,
                        const TemplateTraits& traits = {}) {
  auto variables = variables_of(messages, source, traits);
  return variables.ok() ? dump_json((*variables)["messages"]) : variables.status().message();
}

std::string call_with(const std::string& arguments) {
  return R"([{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function",)"
         R"("function":{"name":"f","arguments":)" +
         arguments + "}}]}]";
}

TEST(ChatRequest, ContentBecomesText) {
  EXPECT_EQ(messages_of(R"([{"role":"user","content":null},{"role":"user"}])"),
            R"([{"role":"user","content":""},{"role":"user","content":""}])");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":[{"type":"text","text":"a"},"b",)"
                        R"({"type":"input_text","text":"c"}]}])"),
            R"([{"role":"user","content":"a\nb\nc"}])");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":[]}])"), R"([{"role":"user","content":""}])");
}

TEST(ChatRequest, OtherPartsAreRefusedByName) {
  EXPECT_EQ(messages_of(R"([{"role":"user","content":[{"type":"image_url","image_url":{}}]}])"),
            "messages[0].content[0] has the type 'image_url', but this model reads text only");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":5}])"),
            "messages[0].content must be a string, a list or null");
  EXPECT_NE(messages_of(R"([{"role":"user","content":[{"type":"text"}]}])")
                .find("messages[0].content[0]"),
            std::string::npos);
  EXPECT_NE(messages_of(R"([{"content":"x"}])").find("messages[0]"), std::string::npos);
  EXPECT_EQ(messages_of("[5]"), "messages[0] must be an object");
  EXPECT_EQ(messages_of("{}"), "messages must be a list");
}

TEST(ChatRequest, ArgumentsBecomeAnObject) {
  const std::string object = R"("arguments":{"x":1})", empty = R"("arguments":{})";
  EXPECT_NE(messages_of(call_with(R"("{\"x\": 1}")")).find(object), std::string::npos);
  EXPECT_NE(messages_of(call_with(R"({"x":1})")).find(object), std::string::npos);
  for (std::string nothing : {R"("")", R"(" ")", "null", R"("{}")"}) {
    EXPECT_NE(messages_of(call_with(nothing)).find(empty), std::string::npos) << nothing;
  }
}

TEST(ChatRequest, ArgumentsStayTextForTemplatesThatPrintIt) {
  TemplateTraits text{.arguments_as_text = true};
  EXPECT_NE(messages_of(call_with(R"("{\"x\":  1}")"), kEcho, text).find(R"("{\"x\":  1}")"),
            std::string::npos);
  EXPECT_NE(messages_of(call_with(R"({"x":1})"), kEcho, text).find(R"("{\"x\":1}")"),
            std::string::npos);
  EXPECT_NE(messages_of(call_with(R"("")"), kEcho, text).find(R"("arguments":"{}")"),
            std::string::npos);
}

TEST(ChatRequest, BrokenArgumentsAreNamed) {
  const std::string where = "messages[0].tool_calls[0].function.arguments";
  for (std::string bad : {R"("{]")", R"("{\"a\": 1}}")", R"("[1]")", "[1]", "5", R"("nonsense")"}) {
    auto variables = variables_of(call_with(bad));
    ASSERT_FALSE(variables.ok()) << bad;
    EXPECT_EQ(variables.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(variables.status().message().find(where), std::string::npos);
  }
  EXPECT_NE(messages_of(R"([{"role":"assistant","tool_calls":[{}]}])").find("tool_calls[0]"),
            std::string::npos);
  EXPECT_NE(messages_of(R"([{"role":"assistant","tool_calls":{"a":1}}])").find("tool_calls"),
            std::string::npos);
}

TEST(ChatRequest, ArgumentsThatWereCutKeepWhatIsComplete) {
  const std::pair<const char*, const char*> cuts[] = {
      {R"("{")", R"("arguments":{})"},
      {R"("{\"a\": 1, \"b\": \"x")", R"("arguments":{"a":1})"},
      {R"("{\"a\": \"q\\\"")", R"("arguments":{})"},
      {R"("{\"a\": [1, {\"b\": 2}, tr")", R"("arguments":{"a":[1,{"b":2}]})"}};
  for (const auto& [cut, kept] : cuts) {
    std::string messages = messages_of(call_with(cut));
    EXPECT_NE(messages.find(kept), std::string::npos) << cut << ": " << messages;
  }
  TemplateTraits text{.arguments_as_text = true};
  EXPECT_NE(messages_of(call_with(R"("{\"a\": 1, ")"), kEcho, text).find(R"("{\"a\": 1}")"),
            std::string::npos);
}

TEST(ChatRequest, ResultsFindTheirCalls) {
  const std::string calls =
      R"({"role":"assistant","content":"","tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},)"
      R"({"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]})";
  auto result = [](const std::string& id) {
    return R"(,{"role":"tool","content":"r")" +
           (id.empty() ? "" : R"(,"tool_call_id":")" + id + "\"") + "}";
  };
  auto ids = [&](const std::string& results) {
    auto variables = variables_of("[" + calls + results + "]");
    if (!variables.ok()) return variables.status().message();
    std::string found;
    for (const Json& m : (*variables)["messages"]) found += m.value("tool_call_id", "");
    return found;
  };
  EXPECT_EQ(ids(result("b") + result("a")), "ba");
  EXPECT_EQ(ids(result("x") + result("y")), "ab");
  EXPECT_EQ(ids(result("a") + result("")), "ab");
  EXPECT_EQ(ids(result("b") + result("x")), "ba");
  EXPECT_EQ(ids(result("a") + result("b") + result("a")), "aba") << "said twice";
  EXPECT_NE(ids(result("a") + result("b") + result("x")).find("messages[3].tool_call_id"),
            std::string::npos);
}

TEST(ChatRequest, EmptyToolCallsVanish) {
  for (std::string calls : {"[]", "null"}) {
    EXPECT_EQ(messages_of(R"([{"role":"assistant","content":"a","tool_calls":)" + calls + "}]"),
              R"([{"role":"assistant","content":"a"}])");
  }
}

TEST(ChatRequest, ReasoningIsCarriedUnderTheNamesOfTheTemplate) {
  std::string source = "{{ m.reasoning_content }}{{ m.thinking }}";
  for (std::string given :
       {R"("content":"a","reasoning":"r")", R"("content":"a","reasoning_content":"r")",
        R"("content":[{"type":"thinking","thinking":"r"},{"type":"text","text":"a"}])"}) {
    auto variables = variables_of("[{\"role\":\"assistant\"," + given + "}]", source);
    ASSERT_TRUE(variables.ok());
    const Json& message = (*variables)["messages"][0];
    EXPECT_EQ(message["content"], "a");
    EXPECT_EQ(message["reasoning_content"], "r");
    EXPECT_EQ(message["thinking"], "r");
  }
}

TEST(ChatRequest, TheDeveloperIsTheSystemWhereUnknown) {
  std::string messages = R"([{"role":"developer","content":"x"}])";
  EXPECT_NE(messages_of(messages).find("system"), std::string::npos);
  EXPECT_NE(messages_of(messages, "{% if m.role == 'developer' %}{% endif %}").find("developer"),
            std::string::npos);
}

TEST(ChatRequest, ARoleThatTheTemplateWouldSkipIsRefused) {
  std::string messages = R"([{"role":"user","content":"x"},{"role":"System","content":"rules"}])";
  EXPECT_NE(messages_of(messages).find("messages[1]: the role \"System\""), std::string::npos);
  EXPECT_NE(messages_of(messages, "{% if m.role == 'System' %}{% endif %}").find("rules"),
            std::string::npos);
}

TEST(ChatRequest, VariablesAreThoseOfTransformers) {
  auto variables = variables_of("[]");
  ASSERT_TRUE(variables.ok());
  EXPECT_EQ(dump_json(*variables),
            R"({"bos_token":"<s>","messages":[],"tools":null,"documents":null,)"
            R"("add_generation_prompt":true})");
}

TEST(ChatRequest, KwargsComeOnTop) {
  auto variables = variables_of("[]", kEcho, {}, {{"add_generation_prompt", false}, {"x", 1}});
  ASSERT_TRUE(variables.ok());
  EXPECT_EQ((*variables)["add_generation_prompt"], false);
  EXPECT_EQ((*variables)["x"], 1);
  for (const char* name : {"bos_token", "messages", "tools"}) {
    EXPECT_FALSE(variables_of("[]", kEcho, {}, {{name, "x"}}).ok()) << name;
  }
  EXPECT_FALSE(variables_of("[]", kEcho, {}, Json::array({1})).ok());
}

TEST(ChatRequest, ThinkingFindsTheSwitchOfTheTemplate) {
  auto thinking = [](const std::string& source, std::optional<bool> on, Json kwargs = nullptr) {
    ChatRequest request;
    request.messages = Json::array();
    request.thinking = on;
    request.template_kwargs = std::move(kwargs);
    auto variables = template_variables(request, *compiled(source), {}, nullptr);
    return variables.ok() ? *variables : Json();
  };
  EXPECT_EQ(thinking("{{ enable_thinking }}", false)["enable_thinking"], false);
  Json north = thinking("{{ reasoning }}{{ reasoning_effort == 'none' }}", false);
  EXPECT_EQ(north["reasoning"], false);
  EXPECT_EQ(north["reasoning_effort"], "none");
  EXPECT_FALSE(thinking("{{ reasoning }}", std::nullopt).contains("reasoning"));
  EXPECT_EQ(thinking("{{ reasoning }}", std::nullopt, {{"enable_thinking", false}})["reasoning"],
            false);
  EXPECT_EQ(thinking("{{ reasoning }}", true, {{"reasoning", false}})["reasoning"], false);
}

TEST(ChatRequest, TwoAssistantsInARowAreMergedForTemplatesThatInsistOnTurns) {
  std::string strict =
      "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
      "{{ raise_exception('turns') }}{% endif %}[{{ m.content }}]{% endfor %}";
  ChatRequest request;
  request.messages = parsed(R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},)"
                            R"({"role":"assistant","content":"c"}])");
  auto prompt = render_chat(request, *compiled(strict), {}, nullptr);
  ASSERT_TRUE(prompt.ok()) << prompt.status().message();
  EXPECT_EQ(prompt->text, "[a][b\nc]");
  request.messages = parsed(R"([{"role":"assistant","content":"b"}])");
  EXPECT_FALSE(render_chat(request, *compiled(strict), {}, nullptr).ok());
}

std::string template_text(const std::string& path) {
  auto text = read_file(std::string(NMC_SOURCE_DIR) + "/" + path, 1u << 20);
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

TEST(TemplateTraits, OfWellKnownTemplates) {
  auto traits_of = [](const std::string& name) {
    auto t = compiled(template_text(name));
    return probe_template(*t, {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  };
  const std::string folder = "tests/runtime/text/template/templates/";
  EXPECT_TRUE(traits_of(folder + "deepseek.jinja").arguments_as_text);
  for (std::string name : {"glm", "qwen3", "llama3", "mistral", "harmony", "hermes_tools"}) {
    TemplateTraits traits = traits_of(folder + name + ".jinja");
    EXPECT_FALSE(traits.arguments_as_text || traits.content_as_parts) << name;
  }
  TemplateTraits north = traits_of("models/templates/north-mini-code.jinja");
  EXPECT_FALSE(north.arguments_as_text || north.null_content_with_calls || north.content_as_parts);
}

TEST(TemplateTraits, NullContentAndParts) {
  auto null_only = compiled(
      "{% for m in messages %}{% if m.role == 'assistant' and m.content is none %}"
      "{{ m.tool_calls | tojson }}{% else %}{{ m.content }}{% endif %}{% endfor %}");
  EXPECT_TRUE(probe_template(*null_only, nullptr).null_content_with_calls);
  auto parts_only = compiled(
      "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}");
  TemplateTraits traits = probe_template(*parts_only, nullptr);
  EXPECT_TRUE(traits.content_as_parts);
  ChatRequest request;
  request.messages = parsed(R"([{"role":"user","content":"hello"}])");
  auto prompt = render_chat(request, *parts_only, traits, nullptr);
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->text, "hello");
}

TEST(North, ARepliedTurnRendersToWhatWasGenerated) {
  auto north = compiled(template_text("models/templates/north-mini-code.jinja"));
  ChatRequest request;
  request.messages = parsed(R"([{"role":"user","content":"q"}])");
  auto first = render_chat(request, *north, {}, {{"bos_token", "<BOS_TOKEN>"}});
  ASSERT_TRUE(first.ok()) << first.status().message();
  std::string generated =
      "Hm.<|END_THINKING|><|START_ACTION|>[\n"
      "    {\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": {\"x\": [1, \"é\"]}}\n"
      "]<|END_ACTION|><|END_OF_TURN_TOKEN|>";
  request.messages.push_back(parsed(
      R"({"role":"assistant","content":"","reasoning_content":"Hm.","tool_calls":[{"id":"call_1",)"
      R"("type":"function","function":{"name":"f","arguments":"{\"x\": [1, \"é\"]}"}}]})"));
  request.messages.push_back(parsed(R"({"role":"tool","tool_call_id":"call_1","content":"r"})"));
  auto second = render_chat(request, *north, {}, {{"bos_token", "<BOS_TOKEN>"}});
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_TRUE(second->text.starts_with(first->text + generated)) << second->text;
}

}  // namespace
}  // namespace nmc
