// The tokens of a template.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace nmc::jinja {

struct Token {
  enum class Kind {
    kData,  // text outside of tags, already trimmed
    kBlockBegin,
    kBlockEnd,
    kVariableBegin,
    kVariableEnd,
    kName,
    kString,  // unescaped
    kInteger,
    kFloat,
    kOperator,  // its text is in `text`
    kEnd,
  };

  Kind kind = Kind::kEnd;
  int line = 1;
  std::string text;
  int64_t integer = 0;
  double number = 0;
};

// Cuts a template into tokens, applying trim_blocks, lstrip_blocks and the `-` and `+` signs. The
// last token is kEnd. Errors: invalid_argument with the line.
Result<std::vector<Token>> tokenize(const std::string& source);

// "template line 3: cause".
Status syntax_error(int line, const std::string& cause);

}  // namespace nmc::jinja
