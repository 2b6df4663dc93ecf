#include "runtime/text/dialect/dialect.h"

#include "runtime/text/dialect/cohere_parser.h"
#include "runtime/text/dialect/hermes_parser.h"
#include "runtime/text/dialect/plain_parser.h"

namespace nmc {

const char* to_string(Dialect dialect) {
  switch (dialect) {
    case Dialect::kPlain:
      return "plain";
    case Dialect::kCmd3:
      return "cmd3";
    case Dialect::kCmd4:
      return "cmd4";
    case Dialect::kHermes:
      return "hermes";
    case Dialect::kCoder:
      return "coder";
  }
  return "plain";
}

bool is_marker(Dialect dialect, std::string_view text) {
  switch (dialect) {
    case Dialect::kCmd3:
    case Dialect::kCmd4:
      return CohereParser::knows(text);
    case Dialect::kHermes:
    case Dialect::kCoder:
      return HermesParser::knows(text);
    case Dialect::kPlain:
      break;
  }
  return false;
}

Dialect detect_dialect(std::string_view template_source,
                       const std::function<bool(std::string_view)>& has_token) {
  auto knows = [&](std::string_view marker) {
    if (!template_source.empty()) return template_source.find(marker) != std::string_view::npos;
    return has_token && has_token(marker);
  };
  if (knows("<|START_ACTION|>")) {
    if (knows("<|START_TEXT|>")) return Dialect::kCmd4;
    if (knows("<|START_RESPONSE|>")) return Dialect::kCmd3;
  }
  if (knows("<tool_call>") && knows("<function=")) return Dialect::kCoder;
  if (knows("<tool_call>") || knows("</think>")) return Dialect::kHermes;
  return Dialect::kPlain;
}

StartMode start_mode(Dialect dialect, std::string_view prompt) {
  // Only the last turn counts: earlier ones, and what users wrote in them, are over.
  auto open_at_end = [&](std::string_view turn, std::string_view open, std::string_view close) {
    size_t begin = prompt.rfind(turn);
    std::string_view last = begin == std::string_view::npos ? prompt : prompt.substr(begin);
    size_t opened = last.rfind(open), closed = last.rfind(close);
    bool is_open =
        opened != std::string_view::npos && (closed == std::string_view::npos || closed < opened);
    return is_open ? StartMode::kReasoning : StartMode::kContent;
  };
  switch (dialect) {
    case Dialect::kCmd3:
    case Dialect::kCmd4:
      return open_at_end("<|CHATBOT_TOKEN|>", "<|START_THINKING|>", "<|END_THINKING|>");
    case Dialect::kHermes:
    case Dialect::kCoder: {
      // Turns have many names here; a thinking block that the prompt opens is its very end.
      size_t end = prompt.find_last_not_of(" \t\r\n");
      bool open = end != std::string_view::npos && prompt.substr(0, end + 1).ends_with("<think>");
      return open ? StartMode::kReasoning : StartMode::kContent;
    }
    case Dialect::kPlain:
      break;
  }
  return StartMode::kContent;
}

std::unique_ptr<DialectParser> make_parser(Dialect dialect, StartMode start,
                                           DialectOptions options) {
  switch (dialect) {
    case Dialect::kCmd3:
    case Dialect::kCmd4:
      return std::make_unique<CohereParser>(start, options);
    case Dialect::kHermes:
    case Dialect::kCoder:
      return std::make_unique<HermesParser>(start, options);
    case Dialect::kPlain:
      break;
  }
  return std::make_unique<PlainParser>();
}

}  // namespace nmc
