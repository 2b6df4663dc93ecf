// What the command lines of all programs have in common: how --help looks, and how a wrong one
// ends.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

namespace nmc {

inline constexpr int kFailure = 1, kUsage = 2, kInterrupted = 130;  // exit codes, beside 0

// Parses the words of main. Leaves the program after --help and --version, and with a sentence when
// the words or `check`, which runs behind them, throw a CLI::ParseError. `longer` has long names
// for words such as "-np": the parser takes a single dash for one letter only.
void parse_command_line(CLI::App* app, int argc, char** argv,
                        const std::function<void()>& check = {},
                        const std::map<std::string, std::string>& longer = {});

// Says what is wrong with the command line, and leaves the program.
[[noreturn]] void usage_error(const std::string& sentence);

// What --help prints.
std::string help_text(const CLI::App& app);

// A finite number from `least` to `most`, which may be infinite; the library's own range lets "nan"
// pass, and writes the largest double in 309 digits.
CLI::Validator number_between(double least, double most, const char* of = "");

}  // namespace nmc
