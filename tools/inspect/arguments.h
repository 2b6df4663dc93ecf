// The command line of inspect.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/base/threads.h"

namespace nmc {

// At most one of the inputs from `tokenize` on is given; paths may be "-" for standard input.
struct InspectArguments {
  std::filesystem::path model;
  bool json = false;

  bool check = false;
  std::filesystem::path checkpoint, other;
  size_t threads = usable_cores();

  bool plan = false;
  uint32_t workers = 128, batch = 1, context = 8192, worker = 0;  // with `plan`

  std::string tokenize, detokenize, chat, output, schema;
  bool special = false, bos = false;  // with `tokenize`
  bool tokens = false;                // with `chat`
  bool reasoning = false;             // with `output`
  std::string text;                   // with `schema`
  bool mask_bench = false;            // with `schema`
};

// Exits the process on --help, --version and usage errors.
InspectArguments parse_inspect_arguments(int argc, char** argv);

}  // namespace nmc
