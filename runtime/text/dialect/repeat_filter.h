// Text that may say once more what was said.
#pragma once

#include <string>
#include <string_view>

namespace nmc {

// Models whose reasoning is off may answer, close a reasoning block that was never open, and answer
// again. Holds a text back for as long as it repeats an earlier one, blanks at the ends aside.
// Linear in the texts. Not thread-safe.
class RepeatFilter {
 public:
  // The earlier text, piece by piece, and that a text begins which may repeat it.
  void remember(std::string_view text) { said_ += text; }
  void watch();
  // Forgets both.
  void reset() { *this = {}; }

  // The part of `text`, and of what was held before, that is no repetition.
  std::string pass(std::string_view text);
  // The text is over: what is held and was no full repetition. One that a limit has `cut` counts.
  std::string finish(bool cut);

 private:
  std::string said_;
  bool watching_ = false;
  size_t same_ = 0;  // characters of said_ that came again
  std::string held_;
};

}  // namespace nmc
