#include "tests/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>

#include "runtime/base/file.h"
#include "tests/support/require.h"
#include "tests/support/temporary_folder.h"

extern char** environ;

namespace nmc::test {

Finished run_program(const std::string& name, const std::vector<std::string>& arguments) {
  TemporaryFolder folder;
  const std::string path = std::string(NMC_BIN_DIR) + "/" + name;
  const std::string out = folder / "out", err = folder / "err";
  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, path.c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("cannot run " + path);

  int status = 0;
  waitpid(pid, &status, 0);
  constexpr uint64_t kLimit = 1 << 28;
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = require(read_file(out, kLimit)),
          .err = require(read_file(err, kLimit))};
}

}  // namespace nmc::test
