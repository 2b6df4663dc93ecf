// What inspect does with text, by the real program on the bundled model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "convert/convert.h"
#include "runtime/base/file.h"
#include "runtime/text/chat/chat_body.h"
#include "runtime/text/chat/encode_prompt.h"
#include "runtime/text/chat/text_model.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/require.h"
#include "tests/support/temporary_folder.h"

namespace nmc::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class InspectText : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    OutputOptions options;
    options.out = *folder_ / "nano.nmc";
    require(convert_checkpoint(checkpoint_, false, options));
  }
  static void TearDownTestSuite() { delete folder_; }

  static Finished inspect(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), *folder_ / "nano.nmc");
    return run_program("inspect", arguments);
  }
  // The output of a run that must succeed.
  static std::string output(const std::vector<std::string>& arguments) {
    const Finished run = inspect(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return run.out;
  }
  static void expect_failure(const std::vector<std::string>& arguments, const std::string& words) {
    const Finished run = inspect(arguments);
    EXPECT_EQ(run.code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, StartsWith("inspect: "));
    EXPECT_THAT(run.err, HasSubstr(words));
  }
  // The path of a file with this content.
  static std::string file(const std::string& name, const std::string& content) {
    require(write_file(*folder_ / name, content));
    return *folder_ / name;
  }

  static inline const std::filesystem::path checkpoint_ =
      golden_model("cohere2moe-nano").checkpoint;
  static inline TemporaryFolder* folder_ = nullptr;
};

std::string joined(const Json& ids) {
  std::string text;
  for (const Json& id : ids) text += (text.empty() ? "" : " ") + id.dump();
  return text + "\n";
}

TEST_F(InspectText, TokenizeGivesTheIdsOfTheReferenceImplementation) {
  const std::string golden =
      require(read_file(NMC_SOURCE_DIR "/tests/runtime/text/tokenizer/golden/nano.json", 1 << 24));
  const Json rows = require(parse_json(golden, "nano.json"));  // [text, marked and bos, literal]
  ASSERT_GT(rows.size(), 20u);
  for (size_t i = 0; i < rows.size(); i += 10) {
    const std::string path = file("text", rows[i][0].get<std::string>());
    EXPECT_EQ(output({"--tokenize", path, "--special", "--bos"}), joined(rows[i][1]));
    EXPECT_EQ(output({"--tokenize", path}), joined(rows[i][2]));
    EXPECT_EQ(output({"--tokenize", path, "--json"}), rows[i][2].dump() + "\n");
  }
}

TEST_F(InspectText, DetokenizeGivesTheExactBytes) {
  const std::string text("<|END_TEXT|> W\u00f6rter,\t\xff\xc3 ende\0\n\n", 28);
  for (const char* flag : {"--special", "--json"}) {
    const std::string ids = output({"--tokenize", file("text", text), flag});
    EXPECT_EQ(output({"--detokenize", file("ids", ids)}), text) << ids;
  }
  EXPECT_EQ(output({"--detokenize", file("ids", "")}), "");
  expect_failure({"--detokenize", file("ids", "1 99999999")}, "token 99999999 lies outside");
  expect_failure({"--detokenize", file("ids", "[1, -1]")}, "token -1 lies outside");
  expect_failure({"--detokenize", file("ids", "1 \033[2J")}, "is not a token id");
  expect_failure({"--detokenize", file("ids", "[1")}, "list of ids");
  expect_failure({"--detokenize", *folder_ / "none"}, "none");
}

TEST_F(InspectText, ADashIsStandardInput) {
  const std::string command = std::string(NMC_BIN_DIR "/inspect ") +
                              (*folder_ / "nano.nmc").string() + " --tokenize - <" +
                              file("text", "some words");
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char line[200] = {};
  EXPECT_NE(std::fgets(line, sizeof line, pipe), nullptr);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(line, output({"--tokenize", *folder_ / "text"}));
}

// Requests that ask for everything that a prompt can depend on.
const char* const kRequests[] = {
    R"({"messages": [{"role": "user", "content": "Hi <|END_TEXT|>"}]})",
    R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "2+2?"}]}],
        "reasoning_effort": "none", "temperature": 0})",
    R"({"messages": [{"role": "user", "content": "x"}], "reasoning_effort": "high", "add_generation_prompt": false})",
    R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": {"reasoning": false}})",
    R"({"messages": [{"role": "user", "content": "weather?"},
                     {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls":
                       [{"id": "a", "type": "function", "function": {"name": "get", "arguments": "{\"city\": \"Bern\"}"}}]},
                     {"role": "tool", "tool_call_id": "a", "content": "sun"}],
        "tools": [{"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}]})",
    R"({"messages": [{"role": "user", "content": "x"}], "tool_choice": "none",
        "tools": [{"type": "function", "function": {"name": "get", "parameters": {}}}]})",
    R"({"messages": [{"role": "user", "content": "x"}], "tools": []})",
};

TEST_F(InspectText, TemplateRendersAsTheServerDoes) {
  const auto read = [](const std::string& name) -> Result<std::string> {
    if (!std::filesystem::exists(checkpoint_ / name)) return std::string();
    return read_file(checkpoint_ / name, 1 << 24);
  };
  const TextModel model = require(load_text_model(require(read_text_files(read))));
  for (const char* request : kRequests) {
    const Json body = require(parse_json(request, "request"));
    const RenderedPrompt prompt = require(render_chat(model, require(parse_chat_body(body))));
    const Json ids = encode_prompt(*model.tokenizer, prompt);
    const std::string path = file("request.json", request);
    EXPECT_EQ(output({"--template", path}), prompt.text);
    EXPECT_EQ(output({"--template", path, "--json"}), dump_json({{"prompt", prompt.text}}) + "\n");
    EXPECT_EQ(output({"--template", path, "--tokens"}), joined(ids));
    EXPECT_EQ(output({"--template", path, "--tokens", "--json"}), ids.dump() + "\n");
  }
}

TEST_F(InspectText, TemplateTakesABareListOfMessages) {
  const std::string messages = R"([{"role": "user", "content": "Hi"}])";
  EXPECT_EQ(output({"--template", file("list.json", messages)}),
            output({"--template", file("request.json", R"({"messages": )" + messages + "}")}));
}

TEST_F(InspectText, TemplateNamesWhatIsWrongWithARequest) {
  expect_failure({"--template", file("bad.json", "{")}, "bad.json");
  expect_failure({"--template", file("bad.json", "{}")}, "\"messages\"");
  expect_failure({"--template", file("bad.json", "[]")}, "\"messages\"");
  expect_failure({"--template", file("bad.json", "3")}, "\"messages\"");
  expect_failure({"--template", file("bad.json", R"([{"role": "user", "content": 3}])")},
                 "messages[0].content");
}

TEST_F(InspectText, ParseTellsWhatAnOutputMeans) {
  const std::string text =
      "Let me see.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"7\", "
      "\"tool_name\": \"get\", \"parameters\": {\"city\": \"Bern\"}}\n]<|END_ACTION|>";
  const std::string events = output({"--parse", file("out", text), "--reasoning", "on"});
  EXPECT_EQ(events,
            R"({"event":"reasoning","text":"Let me see."}
{"event":"call_begin","index":0,"id":"call_0","model_id":"7","name":"get"}
{"event":"call_arguments","index":0,"text":"{\"city\": \"Bern\"}"}
{"event":"call_end","index":0,"complete":true}
)");
  const std::string answer = file("out", "<|START_TEXT|>Hi<|END_TEXT|>");
  EXPECT_EQ(output({"--parse", answer}), "{\"event\":\"content\",\"text\":\"Hi\"}\n");
  EXPECT_EQ(output({"--parse", answer}), output({"--parse", answer, "--reasoning", "off"}));
  EXPECT_EQ(output({"--parse", file("out", "")}), "");
}

TEST_F(InspectText, GrammarAcceptsOrNamesTheByte) {
  const std::string schema =
      file("schema.json", R"({"type":"object","properties":{"a":{"type":"integer"}},
                              "required":["a"],"additionalProperties":false})");
  const auto accepts = [&](const std::string& text) -> std::vector<std::string> {
    return {"--grammar", schema, "--text", file("text.json", text)};
  };
  EXPECT_EQ(output({"--grammar", schema}), "the schema compiles\n");
  EXPECT_EQ(output(accepts(R"({"a": 12})")), "accepted\n");
  expect_failure(accepts(R"({"a": "x"})"), R"(text.json: byte 6, "\"", cannot follow after)");
  expect_failure(accepts("x"), "byte 0, \"x\", cannot follow at the start");
  expect_failure(accepts("{\"a\": 1}\n"), R"(byte 8, "\n", cannot follow)");
  expect_failure(accepts(R"({"a": 1)"), "must not end yet: byte 7 is missing");
  expect_failure(accepts(""), "byte 0 is missing at the start");
  expect_failure({"--grammar", file("bad.json", R"({"properties":{"x":{"not":{}}}})")},
                 "schema/properties/x/not");
  expect_failure({"--grammar", file("bad.json", "false")}, "schema: no finite text");
  expect_failure({"--grammar", file("bad.json", "{")}, "bad.json");
}

TEST_F(InspectText, MaskBenchGivesTimes) {
  const std::string schema = file("schema.json", R"({"type":"array","items":{"type":"string"}})");
  EXPECT_THAT(output({"--grammar", schema, "--mask-bench"}),
              MatchesRegex("the schema compiles\ncompiled in [0-9.]+ ms; 2000 masks over [0-9]+ "
                           "tokens: median [0-9.]+ us, p99 [0-9.]+ us, slowest [0-9.]+ us\n"));
  // A grammar of one text: the walk starts over and over.
  EXPECT_THAT(output({"--grammar", file("schema.json", R"({"const":1})"), "--mask-bench"}),
              HasSubstr("2000 masks"));
}

TEST_F(InspectText, Usage) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--special"},
      {"--bos", "--detokenize", "x"},
      {"--tokens"},
      {"--reasoning", "on"},
      {"--text", "x"},
      {"--mask-bench"},
      {"--parse", "x", "--reasoning", "maybe"},
      {"--tokenize", "x", "--detokenize", "x"},
      {"--tokenize", "x", "--check"},
      {"--parse", "x", "--json"},
      {"--grammar", "-", "--text", "-"},
      {"--tokenize", ""},
  };
  for (const auto& arguments : wrong) {
    const Finished run = inspect(arguments);
    EXPECT_EQ(run.code, 2) << arguments[0] << run.out;
    EXPECT_THAT(run.err, StartsWith("inspect: "));
    EXPECT_THAT(run.err, HasSubstr("see inspect --help"));
  }
  const std::string help = output({"--help"});
  for (const char* words : {"The file:", "Tokens:", "Chat:", "Grammar:", "--mask-bench"}) {
    EXPECT_THAT(help, HasSubstr(words));
  }
}

}  // namespace
}  // namespace nmc::test
