// What turns text into tokens and back for one model: its tokenizer, chat template and dialect.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/dialect/dialect.h"
#include "runtime/text/template/chat_request.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

inline constexpr const char* kChatTemplateFile = "chat_template.jinja";

// The files of a checkpoint that decide this; empty where there is none.
struct TextFiles {
  TokenizerFiles tokenizer;
  std::string special_tokens_map_json;
  std::string chat_template;
};

// The bytes of a checkpoint's file; empty when it has no such file.
using ReadTextFile = std::function<Result<std::string>(const std::string& name)>;

Result<TextFiles> read_text_files(const ReadTextFile& read);

// Immutable once made.
struct TextModel {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat_template;  // null: no chat
  TemplateTraits traits;
  Json special_tokens;  // {"bos_token": "<s>", ...}
  Dialect dialect = Dialect::kPlain;
};

// Errors name the file.
Result<TextModel> load_text_model(const TextFiles& files);

// kUnsupported when the model has no chat template.
Result<RenderedPrompt> render_chat(const TextModel& model, const ChatRequest& request);

// The "..._token" entries of both files, which are strings or {"content": "..."}, as a template's
// variables. tokenizer_config.json wins.
Result<Json> special_tokens_of(const TextFiles& files);

}  // namespace nmc
