#include "server/api/completion_text.h"

#include "server/api/logprobs.h"

namespace nmc::api {

VisiblePiece CompletionText::push(const GeneratedToken& token) {
  bool hidden = hide_special_ && tokenizer_.is_special(token.token);
  return hidden ? VisiblePiece{} : text_.push(token, detokenizer_.push(token.token));
}

VisiblePiece CompletionText::flush() {
  VisiblePiece piece = text_.push_held(detokenizer_.flush());
  VisiblePiece rest = text_.flush();
  piece.text += rest.text;
  piece.tokens.insert(piece.tokens.end(), rest.tokens.begin(), rest.tokens.end());
  return piece;
}

Json CompletionText::choice(size_t index, const std::string& text,
                            const std::vector<GeneratedToken>& tokens, const char* reason) {
  Json choice = {{"index", index}, {"text", text}};
  choice["logprobs"] = logprobs_ ? completion_logprobs(tokenizer_, tokens, &offset_) : Json();
  choice["finish_reason"] = reason ? Json(reason) : Json();
  return choice;
}

}  // namespace nmc::api
