// Standard output that may be a full disk: what was printed counts only once it has arrived.
#pragma once

#include "runtime/base/status.h"

namespace nmc {

// Writes out everything printed so far. kIo when that, or any printing before, failed.
Status flush_standard_output();

// The exit code of a program that is about to end with `code`: 1, with a sentence on standard
// error, when it would claim success although its output is lost.
int exit_code_after_output(int code);

// What this program was called as: "server", or "nmc-server" where it is installed.
const char* program_name();

}  // namespace nmc
