// Runs one of the project's programs, as a user would.
#pragma once

#include <string>
#include <vector>

namespace nmc::test {

struct Finished {
  int code = -1;  // exit code; -1 when a signal ended it
  std::string out, err;
};

// `name`: in build/bin. Standard input is empty. Throws when it cannot be started.
Finished run_program(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace nmc::test
