#include "runtime/text/chat/encode_prompt.h"

#include <string_view>

namespace nmc {

std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt) {
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

}  // namespace nmc
