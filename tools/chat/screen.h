// How an answer looks: dimmed reasoning on a terminal, the bare answer elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "tools/chat/answerer.h"

namespace nmc {

// `text` without what a terminal would obey: control characters other than line ends and tabs. A
// model must not be able to move the cursor or to set the title of a window.
std::string without_controls(std::string_view text);

// Prints to standard output. Not thread-safe.
class Screen {
 public:
  struct Style {
    bool terminal = false;  // reasoning is shown, controls are not
    bool color = false;     // reasoning is dimmed
  };
  // From standard output, and NO_COLOR and TERM.
  static Style detect();

  explicit Screen(Style style) : style_(style) {}

  // The next piece of an answer.
  void show(const AnswerPiece& piece);
  // The answer is over: ends its last line.
  void end_answer();
  // A dimmed line on standard error, e.g. the timings.
  void note(const std::string& line) const;

 private:
  void write(std::string_view text);

  const Style style_;
  bool in_reasoning_ = false, shown_ = false, line_open_ = false;
};

// "[123 tokens read, 45 of them cached, in 0.4 s | 56 tokens, 12.3/s]"
std::string timings(const AnswerStats& stats);

}  // namespace nmc
