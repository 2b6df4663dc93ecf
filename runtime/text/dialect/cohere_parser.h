// Cohere's Command dialects: reasoning, answer and action blocks between <|START_X|> and <|END_X|>.
#pragma once

#include "runtime/text/dialect/call_reader.h"
#include "runtime/text/dialect/citation_filter.h"
#include "runtime/text/dialect/json_answer.h"
#include "runtime/text/dialect/marker_parser.h"
#include "runtime/text/dialect/repeat_filter.h"
#include "runtime/text/dialect/text_block.h"

namespace nmc {

// Reads cmd3 and cmd4 alike: they differ in the name of the answer block, and both names are known.
// Text after <|END_THINKING|> is answer even without an opening marker; text after any other end
// marker belongs to no block and is dropped.
class CohereParser : public MarkerParser {
 public:
  CohereParser(StartMode start, const DialectOptions& options);

  static bool knows(std::string_view text);  // as a marker

 private:
  enum class Mode { kReasoning, kAnswer, kAction, kNothing };

  static std::span<const Marker> all_markers();
  std::span<const Marker> markers() const override { return all_markers(); }
  bool in_data() const override;
  void on_text(std::string_view text, std::vector<DialectEvent>* out) override;
  void on_marker(int id, std::vector<DialectEvent>* out) override;
  void on_end(std::string_view fragment, bool cut, std::vector<DialectEvent>* out) override;
  void end_repeat(bool cut, std::vector<DialectEvent>* out);
  std::string without_citations(std::string_view text);
  void end_citation(bool cut, std::vector<DialectEvent>* out);
  void leave(bool cut, std::vector<DialectEvent>* out);

  Mode mode_;
  bool between_ = false;  // after <|END_THINKING|>, before the next block
  bool unopened_;         // an answer that no marker has opened
  RepeatFilter repeat_;
  bool citations_wanted_;  // out of the text
  CitationFilter citations_;
  TextBlock reasoning_{DialectEvent::Kind::kReasoning};
  TextBlock answer_{DialectEvent::Kind::kContent};
  bool json_mode_;
  JsonAnswer json_;
  CallWriter writer_;
  CallReader calls_;
};

}  // namespace nmc
