#include "server/api/visible_text.h"

namespace nmc::api {

VisiblePiece VisibleText::push(const GeneratedToken& token, std::string_view text) {
  if (keep_tokens_) pending_.push_back({token, received_});
  return push_held(text);
}

VisiblePiece VisibleText::push_held(std::string_view text) {
  received_ += text.size();
  return show(matcher_.push(text));
}

VisiblePiece VisibleText::flush() {
  return show(matcher_.flush());
}

VisiblePiece VisibleText::show(std::string text) {
  VisiblePiece piece;
  shown_ += text.size();
  piece.text = std::move(text);
  while (!pending_.empty() && pending_.front().begin < shown_) {
    piece.tokens.push_back(std::move(pending_.front().token));
    pending_.pop_front();
  }
  return piece;
}

void VisibleText::drop_textless() {
  while (!pending_.empty() && pending_.back().begin == received_) pending_.pop_back();
}

}  // namespace nmc::api
