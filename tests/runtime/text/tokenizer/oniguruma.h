// Oniguruma as a test oracle, away from GoogleTest: both headers want the C library's regex names.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nmc::tok {

using Spans = std::vector<std::pair<size_t, size_t>>;

class Oniguruma {
 public:
  explicit Oniguruma(const std::string& pattern);
  ~Oniguruma();

  // Whether the pattern compiled.
  bool ok() const;
  // The matches one after another; for patterns that match no empty string.
  Spans matches(const std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmc::tok
