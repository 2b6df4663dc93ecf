#include "runtime/text/dialect/cohere_parser.h"

#include <algorithm>

namespace nmc {
namespace {

enum CohereMarker {
  kStartThinking,
  kEndThinking,
  kStartAnswer,
  kEndAnswer,
  kStartAction,
  kEndAction,
  kOver
};

}  // namespace

CohereParser::CohereParser(StartMode start, const DialectOptions& options)
    : mode_(start == StartMode::kReasoning ? Mode::kReasoning : Mode::kAnswer),
      unopened_(start == StartMode::kContent),
      citations_wanted_(options.citations),
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
      reasoning_.add(without_citations(text), out);
      break;
    case Mode::kAnswer:
      if (json_mode_) text = text.substr(0, json_.feed(text));
      if (unopened_) repeat_.remember(text);
      answer_.add(without_citations(repeat_.pass(text)), out);
      break;
    case Mode::kAction:
      calls_.feed(text, out);
      break;
    case Mode::kNothing:
      break;
  }
}

std::string CohereParser::without_citations(std::string_view text) {
  return citations_wanted_ ? citations_.pass(text) : std::string(text);
}

// What began like a tag was text, unless a limit cut it.
void CohereParser::end_citation(bool cut, std::vector<DialectEvent>* out) {
  const std::string held = citations_.finish();
  if (cut && (held.starts_with("<co") || held.starts_with("</co"))) return;
  if (mode_ == Mode::kReasoning) reasoning_.add(held, out);
  if (mode_ == Mode::kAnswer) answer_.add(held, out);
}

// Closes the block at work.
void CohereParser::leave(bool cut, std::vector<DialectEvent>* out) {
  end_citation(cut, out);
  switch (mode_) {
    case Mode::kReasoning:
      reasoning_.end(cut, out);
      break;
    case Mode::kAnswer:
      answer_.end(cut, out);
      break;
    case Mode::kAction:
      calls_.end_block(out);
      break;
    case Mode::kNothing:
      break;
  }
}

void CohereParser::end_repeat(bool cut, std::vector<DialectEvent>* out) {
  const std::string rest = repeat_.finish(cut);
  if (mode_ == Mode::kAnswer) answer_.add(without_citations(rest), out);
}

void CohereParser::on_marker(int id, std::vector<DialectEvent>* out) {
  // Behind <|END_THINKING|> the answer may come once more; its own opening marker changes nothing.
  const bool leaked = unopened_ && mode_ == Mode::kAnswer && id == kEndThinking;
  const bool opens_again = between_ && mode_ == Mode::kAnswer && id == kStartAnswer;
  if (!leaked && !opens_again) end_repeat(false, out);
  leave(false, out);
  if (leaked) repeat_.watch();
  unopened_ = false;
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
  end_repeat(cut, out);
  leave(cut, out);
  mode_ = Mode::kNothing;
}

}  // namespace nmc
