// The text that a client sees, and the tokens that made it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/request.h"
#include "server/api/stop_matcher.h"

namespace nmc::api {

struct VisiblePiece {
  std::string text;
  // The tokens of which at least one byte has been shown now; empty unless they are kept.
  std::vector<GeneratedToken> tokens;
};

// One answer's text behind its stop strings. With `keep_tokens`, each token comes out together
// with the first byte of its text: tokens of a stop string never do. Not thread-safe.
class VisibleText {
 public:
  VisibleText(std::vector<std::string> stops, bool keep_tokens)
      : matcher_(std::move(stops)), keep_tokens_(keep_tokens) {}

  // The next token and the text it completed, which may be empty in the middle of a character.
  VisiblePiece push(const GeneratedToken& token, std::string_view text);
  // Text without a token of its own: what a parser or a detokenizer held back.
  VisiblePiece push_held(std::string_view text);
  VisiblePiece flush();
  // Forgets tokens that have made no text: they turned out to belong to something else.
  void drop_textless();

  bool stopped() const { return matcher_.stopped(); }
  const std::string& stop_string() const { return matcher_.match(); }

 private:
  struct Pending {
    GeneratedToken token;
    size_t begin;  // bytes of text before the token
  };

  VisiblePiece show(std::string text);

  StopMatcher matcher_;
  const bool keep_tokens_;
  std::deque<Pending> pending_;
  size_t received_ = 0, shown_ = 0;  // bytes
};

}  // namespace nmc::api
