// What numbers a command line may say.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "runtime/base/text.h"

namespace nmc {

// A finite number from `least` to `most`, which may be infinite; the library's own range lets "nan"
// pass, and writes the largest double in 309 digits.
inline CLI::Validator number_between(double least, double most, const char* of = "") {
  const std::string range = std::isinf(most)
                                ? format("must be a number%s, at least %g", of, least)
                                : format("must be a number%s, %g to %g", of, least, most);
  auto check = [least, most, range](const std::string& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool ok =
        !text.empty() && *end == '\0' && std::isfinite(value) && value >= least && value <= most;
    return ok ? std::string() : range;
  };
  return CLI::Validator(check, range);
}

}  // namespace nmc
