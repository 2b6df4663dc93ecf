#include "tools/inspect/chat.h"

#include <string_view>

#include "tools/inspect/model_text.h"

namespace nmc {
namespace {

constexpr const char* kRequest = "request";

// Null when absent.
Json field(const Json& body, const char* key) {
  auto it = body.find(key);
  return it == body.end() ? Json() : *it;
}

Result<ChatRequest> chat_request_of(const Json& body) {
  ChatRequest request;
  request.messages = body.is_array() ? body : field(body, "messages");
  if (!request.messages.is_array() || request.messages.empty()) {
    return invalid_argument("request: the field \"messages\" must be a list of messages");
  }
  if (body.is_array()) return request;
  request.tools = field(body, "tools");
  if (field(body, "tool_choice") == "none" || request.tools.empty()) request.tools = nullptr;
  request.documents = field(body, "documents");
  NMC_ASSIGN(const std::string effort, json_string(body, "reasoning_effort", kRequest, ""));
  if (!effort.empty()) request.thinking = effort != "none";
  request.template_kwargs = field(body, "chat_template_kwargs");
  NMC_ASSIGN(request.add_generation_prompt,
             json_bool(body, "add_generation_prompt", kRequest, true));
  return request;
}

}  // namespace

Result<RenderedPrompt> render_chat_body(const ModelFile& file, const Json& body) {
  NMC_ASSIGN(const auto chat_template, chat_template_of(file));
  NMC_ASSIGN(const Json special_tokens, special_tokens_of(file));
  NMC_ASSIGN(const ChatRequest request, chat_request_of(body));
  return render_chat(request, *chat_template, probe_template(*chat_template, special_tokens),
                     special_tokens);
}

std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt) {
  const std::string_view text = prompt.text;
  std::vector<TextPiece> pieces;
  size_t at = 0;
  for (const TextSpan& span : prompt.literal) {
    pieces.push_back({text.substr(at, span.begin - at), false});
    pieces.push_back({text.substr(span.begin, span.end - span.begin), true});
    at = span.end;
  }
  pieces.push_back({text.substr(at), false});
  return tokenizer.encode(pieces);
}

}  // namespace nmc
