// The text of one block (reasoning or answer) on its way out: trimmed, in whole characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/dialect_event.h"

namespace nmc {

// What counts as blank around a block and around what may be repeated.
inline constexpr std::string_view kBlanks = " \t\r\n";

// Blanks at the start of a block vanish, blanks at its end are held until text follows them. A
// character is held until its last byte. Not thread-safe.
class TextBlock {
 public:
  explicit TextBlock(DialectEvent::Kind kind) : kind_(kind) {}

  // A new block of the same kind begins.
  void begin();
  void add(std::string_view text, std::vector<DialectEvent>* out);
  // The block is over; `keep_blanks` releases the blanks at its end as well.
  void end(bool keep_blanks, std::vector<DialectEvent>* out);
  // Whether this block has given out nothing so far.
  bool blank() const { return leading_; }

 private:
  void emit(std::string_view text, std::vector<DialectEvent>* out);

  DialectEvent::Kind kind_;
  bool leading_ = true;
  std::string blanks_;   // held, between text and what may follow
  std::string partial_;  // held: the first bytes of a character, at most 3
};

}  // namespace nmc
