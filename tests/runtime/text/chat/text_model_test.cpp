#include "runtime/text/chat/text_model.h"

#include <gmock/gmock.h>

#include <map>

#include "runtime/text/chat/chat_body.h"
#include "runtime/text/chat/encode_prompt.h"
#include "runtime/text/chat/grammar_vocabulary.h"
#include "tests/support/require.h"

namespace nmc::test {
namespace {

using testing::HasSubstr;

// Letters a to d, a raw 0xff, and the markers <s> (4), </s> (5), two blanks (6) and <think> (7).
constexpr const char* kTokenizer = R"({"model": {"type": "BPE", "merges": [],
  "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "ÿ": 8}},
  "added_tokens": [{"id": 4, "content": "<s>", "special": true},
    {"id": 5, "content": "</s>", "special": true}, {"id": 6, "content": "  "},
    {"id": 7, "content": "<think>"}],
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
  "decoder": {"type": "ByteLevel"}})";

TextFiles files() {
  TextFiles files;
  files.tokenizer.tokenizer_json = kTokenizer;
  files.tokenizer.tokenizer_config_json = R"({"bos_token": {"content": "<s>"}, "pad_token": null})";
  files.chat_template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";
  return files;
}

TEST(TextModel, ReadsTheFilesByName) {
  const std::map<std::string, std::string> folder = {{"tokenizer.json", "t"},
                                                     {"tokenizer_config.json", "c"},
                                                     {"tokenizer.model", "m"},
                                                     {"special_tokens_map.json", "s"},
                                                     {"chat_template.jinja", "j"}};
  const TextFiles read =
      require(read_text_files([&](const std::string& name) { return folder.at(name); }));
  EXPECT_EQ(read.tokenizer.tokenizer_json + read.tokenizer.tokenizer_config_json +
                read.tokenizer.sentencepiece_model + read.special_tokens_map_json +
                read.chat_template,
            "tcmsj");
  const auto failed =
      read_text_files([](const std::string& name) { return not_found("no " + name); });
  EXPECT_EQ(failed.status().message(), "no tokenizer.json");
}

TEST(TextModel, SpecialTokensComeFromBothFiles) {
  TextFiles both = files();
  both.special_tokens_map_json = R"({"bos_token": "old", "eos_token": "</s>"})";
  EXPECT_EQ(require(special_tokens_of(both)).dump(), R"({"bos_token":"<s>","eos_token":"</s>"})");
  both.special_tokens_map_json = "{";
  EXPECT_THAT(special_tokens_of(both).status().message(), HasSubstr("special_tokens_map.json"));
}

TEST(TextModel, NamesTheFileThatIsWrong) {
  TextFiles bad = files();
  bad.chat_template = "{% if %}";
  EXPECT_THAT(load_text_model(bad).status().message(), HasSubstr("chat_template.jinja"));
  bad = files();
  bad.tokenizer.tokenizer_json = "{}";
  EXPECT_THAT(load_text_model(bad).status().message(), HasSubstr("tokenizer.json"));
  EXPECT_EQ(load_text_model({}).status().code(), StatusCode::kNotFound);
}

TEST(TextModel, WithoutATemplateThereIsNoChat) {
  TextFiles plain = files();
  plain.chat_template.clear();
  const TextModel model = require(load_text_model(plain));
  EXPECT_EQ(model.dialect, Dialect::kPlain);
  EXPECT_EQ(render_chat(model, {}).status().code(), StatusCode::kUnsupported);
}

TEST(EncodePrompt, OnlyTheTemplatesMarkersBecomeTokens) {
  const TextModel model = require(load_text_model(files()));
  const Json body = {{"messages", {{{"role", "user"}, {"content", "ab"}}}}};
  const RenderedPrompt prompt = require(render_chat(model, require(parse_chat_body(body))));
  EXPECT_EQ(prompt.text, "<s>ab");
  EXPECT_EQ(encode_prompt(*model.tokenizer, prompt), (std::vector<int32_t>{4, 0, 1}));
  // The same text twice: once of the template, once of a user.
  const RenderedPrompt mixed{.text = "<s><s>a", .literal = {{3, 6}}};
  EXPECT_EQ(encode_prompt(*model.tokenizer, mixed), (std::vector<int32_t>{4, 0}));
}

TEST(ChatBody, NamesTheField) {
  for (auto [body, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{}", "\"messages\""},
           {"3", "\"messages\""},
           {R"({"messages": [1], "tools": 1})", "\"tools\""},
           {R"({"messages": [1], "reasoning_effort": "lots"})", "\"reasoning_effort\""},
           {R"({"messages": [1], "documents": {}})", "\"documents\""},
           {R"({"messages": [1], "chat_template_kwargs": 1})", "\"chat_template_kwargs\""},
           {R"({"messages": [1], "tool_choice": "required"})", "\"tool_choice\""}}) {
    const Json json = require(parse_json(body, "body"));
    EXPECT_THAT(parse_chat_body(json).status().message(), HasSubstr(words)) << body;
  }
}

TEST(GrammarVocabulary, MarkersAreNoTextAndPaddingIsNothing) {
  const TextModel model = require(load_text_model(files()));
  const std::vector<int32_t> ends = {5, 900};
  const auto all = grammar_vocabulary(*model.tokenizer, 100, ends);
  EXPECT_EQ(all->trie().vocab_size(), 9u);  // not 100: ids beyond the tokenizer have no text
  EXPECT_EQ(all->trie().spelling(0), "a");
  EXPECT_EQ(all->trie().spelling(4), special_spelling(4));
  EXPECT_EQ(all->trie().spelling(6), "  ");
  EXPECT_EQ(all->trie().spelling(7), special_spelling(7));
  EXPECT_EQ(all->trie().spelling(8), "");  // the byte that begins a marker's spelling
  EXPECT_EQ(all->end_tokens(), (std::vector<int32_t>{5}));
  EXPECT_EQ(grammar_vocabulary(*model.tokenizer, 3, ends)->trie().vocab_size(), 3u);
}

}  // namespace
}  // namespace nmc::test
