#include "server/api/chat_output.h"

#include <utility>

#include "runtime/text/chat/request_fields.h"

namespace nmc::api {

namespace {

using Event = DialectEvent::Kind;

DialectOptions dialect_options(const ChatOutputOptions& chosen) {
  DialectOptions options;
  options.tools = chosen.tools;
  options.json_answer = chosen.json_answer;
  options.citations = chosen.citations;
  options.parameter_kind = [tools = chosen.declared](const std::string& tool,
                                                     const std::string& parameter) {
    for (const Json& declared : tools) {
      const Json& function = declared["function"];
      if (function["name"] == tool) return parameter_kind(field(function, "parameters"), parameter);
    }
    return ParameterKind::kUnknown;
  };
  return options;
}

}  // namespace

ChatOutput::ChatOutput(const Tokenizer& tokenizer, ChatOutputOptions options)
    : tokenizer_(tokenizer),
      dialect_(options.dialect),
      parallel_calls_(options.parallel_calls),
      detokenizer_(tokenizer),
      parser_(make_parser(options.dialect, options.start, dialect_options(options))),
      content_(std::move(options.stop), options.keep_tokens),
      in_reasoning_(options.start == StartMode::kReasoning) {}

bool ChatOutput::push(const GeneratedToken& token, std::vector<ChatDelta>* out) {
  events_.clear();
  // A special token that the dialect does not know is nobody's text, however it came here.
  bool hidden = tokenizer_.is_special(token.token) &&
                !is_marker(dialect_, tokenizer_.token_bytes(token.token));
  parser_->feed(hidden ? "" : detokenizer_.push(token.token), &events_);
  take(&token, out);
  return !over_;
}

void ChatOutput::finish(bool cut, std::vector<ChatDelta>* out) {
  if (over_) return;
  events_.clear();
  parser_->feed(detokenizer_.flush(), &events_);
  parser_->finish(cut, &events_);
  take(nullptr, out);
  if (!over_) add_content(content_.flush(), out);
}

// Tokens go to the content with the text that they complete. One without text may be a part of
// later content (half a character, a held blank) or a marker, which is nobody's text.
void ChatOutput::take(const GeneratedToken* token, std::vector<ChatDelta>* out) {
  const bool counts = token != nullptr;
  bool is_marker = token && tokenizer_.is_added(token->token);
  if (is_marker) in_reasoning_ = false;  // unless more of it comes
  bool reasoning = in_reasoning_ && events_.empty() && !is_marker;
  if (events_.empty() && token && !in_reasoning_ && !is_marker) content_.push(*token, "");
  for (DialectEvent& event : events_) {
    if (over_) break;
    in_reasoning_ = event.kind == Event::kReasoning;
    if (event.kind == Event::kContent) {
      add_content(token ? content_.push(*std::exchange(token, nullptr), event.text)
                        : content_.push_held(event.text),
                  out);
      over_ = content_.stopped();
      continue;
    }
    content_.drop_textless();
    switch (event.kind) {
      case Event::kReasoning:
        reasoning = true;
        out->push_back({.kind = ChatDelta::Kind::kReasoning, .text = std::move(event.text)});
        break;
      case Event::kCallBegin:
        add_content(content_.flush(), out);
        has_calls_ = true;
        out->push_back({.kind = ChatDelta::Kind::kCallBegin,
                        .index = event.index,
                        .id = std::move(event.id),
                        .name = std::move(event.name)});
        break;
      case Event::kCallArguments:
        out->push_back({.kind = ChatDelta::Kind::kCallArguments,
                        .text = std::move(event.text),
                        .index = event.index});
        break;
      default:
        over_ = !parallel_calls_;  // after the end of a call
    }
  }
  if (counts && reasoning) ++reasoning_tokens_;
}

void ChatOutput::add_content(VisiblePiece piece, std::vector<ChatDelta>* out) {
  if (piece.text.empty()) return;
  out->push_back({.kind = ChatDelta::Kind::kContent,
                  .text = std::move(piece.text),
                  .tokens = std::move(piece.tokens)});
}

}  // namespace nmc::api
