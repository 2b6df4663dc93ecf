// A compiled split pattern: PCRE2 with JIT, behind the few calls that the splitter makes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace nmc::tok {

// The memory that matching needs, reusable for any pattern. One per thread at a time.
class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(RegexScratch&&) = delete;

 private:
  friend class Regex;
  struct State;
  std::unique_ptr<State> state_;
};

// Immutable, thread-safe.
class Regex {
 public:
  // `pattern` is in Oniguruma's syntax; `where` names it in errors.
  static Result<Regex> compile(std::string_view pattern, std::string_view where);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  enum class Outcome { kMatch, kNoMatch, kGaveUp };
  struct Match {
    Outcome outcome;
    size_t begin, end;
  };

  // The first match in `text`, which must be valid UTF-8, that starts at or after `from`. Gives up
  // when the pattern needs more steps or memory than any sane split does: patterns come from
  // files, and texts from strangers.
  Match find(std::string_view text, size_t from, RegexScratch& scratch) const;

 private:
  struct Code;
  explicit Regex(std::unique_ptr<Code> code);
  std::unique_ptr<Code> code_;
};

}  // namespace nmc::tok
