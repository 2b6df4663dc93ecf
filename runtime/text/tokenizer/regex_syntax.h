// The regular expressions of tokenizer.json are written for Oniguruma; PCRE2 runs them here. Most
// of the syntax is shared. What reads differently is rewritten to mean the same, or refused:
//   \s \S           Unicode White_Space; PCRE2 counts U+180E too
//   \w \b \B        PCRE2 10.42 leaves out marks, connectors and other alphabetic characters
//   \h              a hexadecimal digit, not a horizontal space
//   \uHHHH          unknown to PCRE2
//   \p{Han}         the script, not the script extensions
//   a{1,3}+         repeats the interval; in PCRE2 it is a possessive one
//   a{,3}           is a{0,3}; in PCRE2 these are five characters
//   [a[b]] [a&&b]   nested classes and intersections, unknown to PCRE2: refused
// ^ and $ match at every line: compile the result with PCRE2_MULTILINE.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace nmc::tok {

// `where` names the pattern in errors.
Result<std::string> oniguruma_to_pcre2(std::string_view pattern, std::string_view where);

}  // namespace nmc::tok
