#include "server/api/chat_prompt.h"

#include <string_view>

namespace nmc::api {

Result<RenderedPrompt> render(const ServedModel& model, const ChatRequest& request) {
  if (!model.chat_template) {
    return unsupported("this model has no chat template; use /v1/completions");
  }
  return render_chat(request, *model.chat_template, model.traits, model.special_tokens);
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, const RenderedPrompt& prompt) {
  const std::string_view text = prompt.text;
  std::vector<TextPiece> pieces;
  size_t at = 0;
  for (const TextSpan& span : prompt.literal) {
    if (span.begin > at) pieces.push_back({text.substr(at, span.begin - at), false});
    pieces.push_back({text.substr(span.begin, span.end - span.begin), true});
    at = span.end;
  }
  if (at < text.size()) pieces.push_back({text.substr(at), false});
  return tokenizer.encode(pieces);
}

}  // namespace nmc::api
