// The Hermes dialect, spoken by Qwen and many others: <think> ... </think>, an answer, and calls
// between <tool_call> and </tool_call>, in JSON or, from Qwen3-Coder, in tags.
#pragma once

#include "runtime/text/dialect/call_reader.h"
#include "runtime/text/dialect/marker_parser.h"
#include "runtime/text/dialect/tagged_call.h"
#include "runtime/text/dialect/text_block.h"

namespace nmc {

// The tags are ordinary words that an answer may mention, so <think> and </think> count only where
// the answer has not begun, and a <tool_call> without a JSON object or list, or a <function=, after
// it is text.
class HermesParser : public MarkerParser {
 public:
  HermesParser(StartMode start, const DialectOptions& options);

  static bool knows(std::string_view text);  // as a marker, at some place

 private:
  enum class Mode { kReasoning, kAnswer, kCallStart, kCall, kTagged, kNothing };

  std::span<const Marker> markers() const override;
  bool in_data() const override {
    return mode_ == Mode::kCall ? calls_.in_string() : mode_ == Mode::kTagged && tagged_.in_data();
  }
  void on_text(std::string_view text, std::vector<DialectEvent>* out) override;
  void on_marker(int id, std::vector<DialectEvent>* out) override;
  void on_end(std::string_view fragment, bool cut, std::vector<DialectEvent>* out) override;
  void leave(bool keep_blanks, std::vector<DialectEvent>* out);
  bool on_tag(int id, std::vector<DialectEvent>* out);
  void start_call(std::string_view text, std::vector<DialectEvent>* out);
  void answer(std::string_view text, std::vector<DialectEvent>* out);

  Mode mode_;
  bool answered_ = false;  // some answer text has been given out
  TextBlock reasoning_{DialectEvent::Kind::kReasoning};
  TextBlock answer_{DialectEvent::Kind::kContent};
  std::string opening_;  // <tool_call> and blanks, until it is known to be a call
  CallWriter writer_;
  CallReader calls_;
  TaggedCallReader tagged_;
};

}  // namespace nmc
