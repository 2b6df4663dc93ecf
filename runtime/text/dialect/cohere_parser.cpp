#include "runtime/text/dialect/cohere_parser.h"

#include <algorithm>

namespace nmc {
namespace {

enum Id { kStartThinking, kEndThinking, kStartAnswer, kEndAnswer, kStartAction, kEndAction, kOver };

}  // namespace

CohereParser::CohereParser(StartMode start, const DialectOptions& options)
    : mode_(start == StartMode::kReasoning ? Mode::kReasoning : Mode::kAnswer),
      json_mode_(options.json_answer),
      writer_(options),
      calls_(&writer_) {}

std::span<const MarkerParser::Marker> CohereParser::all_markers() {
  static constexpr Marker kMarkers[] = {
      {"<|START_THINKING|>", kStartThinking}, {"<|END_THINKING|>", kEndThinking},
      {"<|START_TEXT|>", kStartAnswer},       {"<|END_TEXT|>", kEndAnswer},
      {"<|START_RESPONSE|>", kStartAnswer},   {"<|END_RESPONSE|>", kEndAnswer},
      {"<|START_ACTION|>", kStartAction},     {"<|END_ACTION|>", kEndAction},
      {"<|START_TOOL_RESULT|>", kOver},       {"<|END_TOOL_RESULT|>", kOver},
      {"<|END_OF_TURN_TOKEN|>", kOver},       {"<EOS_TOKEN>", kOver},
  };
  return kMarkers;
}

bool CohereParser::knows(std::string_view text) {
  auto is = [&](const Marker& marker) { return marker.text == text; };
  return std::any_of(all_markers().begin(), all_markers().end(), is);
}

bool CohereParser::in_data() const {
  if (mode_ == Mode::kAnswer) return json_mode_ && json_.in_string();
  return mode_ == Mode::kAction && calls_.in_string();
}

void CohereParser::on_text(std::string_view text, std::vector<DialectEvent>* out) {
  switch (mode_) {
    case Mode::kReasoning:
      reasoning_.add(text, out);
      break;
    case Mode::kAnswer:
      answer_.add(json_mode_ ? text.substr(0, json_.feed(text)) : text, out);
      break;
    case Mode::kAction:
      calls_.feed(text, out);
      break;
    case Mode::kNothing:
      break;
  }
}

// Closes the block at work.
void CohereParser::leave(bool keep_blanks, std::vector<DialectEvent>* out) {
  switch (mode_) {
    case Mode::kReasoning:
      reasoning_.end(keep_blanks, out);
      break;
    case Mode::kAnswer:
      answer_.end(keep_blanks, out);
      break;
    case Mode::kAction:
      calls_.end_block(out);
      break;
    case Mode::kNothing:
      break;
  }
}

void CohereParser::on_marker(int id, std::vector<DialectEvent>* out) {
  leave(false, out);
  between_ = id == kEndThinking;
  switch (id) {
    case kStartThinking:
      mode_ = Mode::kReasoning;
      break;
    case kEndThinking:
    case kStartAnswer:
      mode_ = Mode::kAnswer;
      break;
    case kStartAction:
      mode_ = Mode::kAction;
      break;
    default:
      mode_ = Mode::kNothing;
      break;
  }
}

void CohereParser::on_end(std::string_view fragment, bool cut, std::vector<DialectEvent>* out) {
  // Between the blocks, and in an action outside of strings, only a marker can start so.
  bool expected = mode_ == Mode::kAction || (between_ && answer_.blank());
  if (!fragment.empty() && !expected) on_text(fragment, out);
  leave(cut, out);
  mode_ = Mode::kNothing;
}

}  // namespace nmc
