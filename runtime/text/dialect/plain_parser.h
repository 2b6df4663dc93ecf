// Models without markers: every byte is answer.
#pragma once

#include <string>

#include "runtime/text/dialect/dialect.h"

namespace nmc {

class PlainParser : public DialectParser {
 public:
  void feed(std::string_view text, std::vector<DialectEvent>* out) override;
  void finish(bool cut, std::vector<DialectEvent>* out) override;

 private:
  std::string partial_;  // held: the first bytes of a character, at most 3
  bool finished_ = false;
};

}  // namespace nmc
