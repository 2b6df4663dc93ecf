// The program: its exit codes, its sentences, and what it leaves behind when it is stopped.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/convert/test_checkpoint.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class ProgramTest : public TempFolder {
 protected:
  // Starts the program in the test's folder, both outputs in the file "output".
  pid_t start(std::vector<std::string> args) {
    args.insert(args.begin(), NMC_BIN_DIR "/convert");
    pid_t pid = ::fork();
    if (pid != 0) return pid;
    int fd = ::open((folder_ / "output").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(fd, 1);
    ::dup2(fd, 2);
    if (::chdir(folder_.c_str()) != 0) ::_exit(126);
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  // The exit code; -1 when a signal ended it.
  static int wait(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int run(std::vector<std::string> args) { return wait(start(std::move(args))); }
  std::string output() { return *read_file(folder_ / "output", 1 << 20); }
  // Files of the folder whose names begin with `prefix`.
  std::vector<std::string> files(const std::string& prefix) {
    std::vector<std::string> found;
    for (const auto& e : fs::directory_iterator(folder_)) {
      std::string name = e.path().filename();
      if (name.starts_with(prefix)) found.push_back(name);
    }
    return found;
  }
};

TEST_F(ProgramTest, ConvertsIntoTheFolderItStandsIn) {
  write_checkpoint(folder_ / "tiny", small_config(), small_tensors());
  EXPECT_EQ(run({"tiny/"}), 0) << output();
  EXPECT_THAT(output(), HasSubstr("tiny.nmc: 2 layers, 3 experts (2 per token)"));
  EXPECT_THAT(output(), HasSubstr("warning: the folder has no tokenizer"));
  EXPECT_TRUE(ModelFile::open(folder_ / "tiny.nmc").ok());

  EXPECT_EQ(run({"tiny"}), 1);
  EXPECT_THAT(output(), HasSubstr("tiny.nmc exists already; --force replaces it"));
  EXPECT_EQ(run({"tiny", "--force", "--quiet", "--threads", "3"}), 0);
  EXPECT_EQ(run({"tiny", "other.nmc"}), 0);
  EXPECT_EQ(*read_file(folder_ / "other.nmc", 1 << 24), *read_file(folder_ / "tiny.nmc", 1 << 24));
}

TEST_F(ProgramTest, OutputThatIsLostIsNoSuccess) {
  write_checkpoint(folder_ / "c", small_config(), small_tensors());
  for (const std::string& arguments :
       {std::string("--version"), (folder_ / "c").string() + " " + (folder_ / "c.nmc").string()}) {
    const std::string command = NMC_BIN_DIR "/convert " + arguments + " >/dev/full 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << arguments;
  }
}

TEST_F(ProgramTest, WarnsOfValuesThatAreNoNumbers) {
  TestTensors tensors;
  for (const auto& [name, t] : small_tensors()) tensors[name] = zeros(t.shape);
  write_checkpoint(folder_ / "good", small_config(), tensors);
  EXPECT_EQ(run({"good"}), 0);
  EXPECT_THAT(output(), Not(HasSubstr("NaN")));
  std::string& norm = tensors.at("model.norm.weight").bytes;
  norm[3] = '\x7f';  // 0x7fc0, NaN
  norm[2] = '\xc0';
  norm[5] = '\xff';  // 0xff80, -infinity
  norm[4] = '\x80';
  norm[7] = '\x7f';  // 0x7f7f, the largest number
  norm[6] = '\x7f';
  write_checkpoint(folder_ / "bad", small_config(), tensors);
  EXPECT_EQ(run({"bad"}), 0);
  EXPECT_THAT(output(), HasSubstr("warning: tensor \"final_norm\" holds 2 values"));
}

TEST_F(ProgramTest, RefusesTextFilesThatNoServerCanLoad) {
  const fs::path folder = write_checkpoint(folder_ / "c", small_config(), small_tensors());
  write_text(folder / "tokenizer.json", "{}");
  EXPECT_EQ(run({"c"}), 1);
  EXPECT_THAT(output(), HasSubstr("text files cannot be used"));
  EXPECT_THAT(output(), HasSubstr("tokenizer.json"));
  fs::copy_file(NMC_SOURCE_DIR "/models/cohere2moe-nano/tokenizer.json", folder / "tokenizer.json",
                fs::copy_options::overwrite_existing);
  write_text(folder / "chat_template.jinja", "{% if %}");
  EXPECT_EQ(run({"c"}), 1);
  EXPECT_THAT(output(), HasSubstr("chat_template.jinja"));
  EXPECT_THAT(files("c.nmc"), IsEmpty());
  fs::remove(folder / "chat_template.jinja");
  EXPECT_EQ(run({"c"}), 0) << output();
}

TEST_F(ProgramTest, SyntheticModelsTakeTheBundledTokenizer) {
  write_text(folder_ / "c.json", small_config().dump());
  EXPECT_EQ(run({"--synthetic", "c.json", "s.nmc"}), 0) << output();
  auto file = ModelFile::open(folder_ / "s.nmc");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->has_embedded("tokenizer.json"));
  EXPECT_TRUE(file->has_embedded("chat_template.jinja"));
  EXPECT_EQ(file->header().provenance["source"], "synthetic weights");
}

TEST_F(ProgramTest, UsageErrorsAreTwoAndFailuresOne) {
  for (std::vector<std::string> args : {std::vector<std::string>{},
                                        {"a", "b", "c"},
                                        {"--nonsense", "a"},
                                        {"a", "--threads", "0"},
                                        {"--synthetic", "c.json", "a", "b"},
                                        {"a", "--tokenizer", "t"}}) {
    EXPECT_EQ(run(args), 2);
    EXPECT_THAT(output(), ::testing::StartsWith("convert: "));
  }
  EXPECT_EQ(run({"absent"}), 1);
  EXPECT_EQ(output(), "convert: absent is not a folder; give the checkpoint's folder\n");
  write_checkpoint(folder_ / "tiny", small_config(), small_tensors());
  EXPECT_EQ(run({"tiny", "no/such/folder/out.nmc"}), 1);
  EXPECT_THAT(output(), HasSubstr("no/such/folder does not exist"));
  EXPECT_EQ(run({"tiny", "tiny"}), 1);
  EXPECT_THAT(output(), HasSubstr("is a folder"));
  EXPECT_EQ(run({"tiny", "tiny/model.safetensors", "--force"}), 1);
  EXPECT_THAT(output(), HasSubstr("is part of the checkpoint"));
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_THAT(output(), HasSubstr("nmc "));
}

// 64 TB of weights: no disk of a test machine takes that.
TEST_F(ProgramTest, AFullDiskIsNoticedBeforeWriting) {
  Json config = small_config();
  config["vocab_size"] = 1 << 24;
  config["hidden_size"] = 1 << 17;
  write_text(folder_ / "c.json", config.dump());
  EXPECT_EQ(run({"--synthetic", "c.json", "s.nmc"}), 1);
  EXPECT_THAT(output(), ::testing::AllOf(HasSubstr("s.nmc needs 4.4"), HasSubstr("free")));
  EXPECT_THAT(files("s.nmc"), IsEmpty());
}

TEST_F(ProgramTest, AnInterruptLeavesNoFile) {
  for (int signal : {SIGINT, SIGTERM}) {
    Json config = small_config();
    config["vocab_size"] = 1 << 21;
    config["hidden_size"] = 512;  // 2 GB, far more than is written before the signal
    write_text(folder_ / "c.json", config.dump());
    pid_t pid = start({"--synthetic", "c.json", "s.nmc", "--threads", "2"});
    for (int i = 0; i < 1000 && files("s.nmc.partial").empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_THAT(files("s.nmc.partial"), ::testing::SizeIs(1));
    ::kill(pid, signal);
    EXPECT_EQ(wait(pid), 130);
    EXPECT_EQ(output(), "convert: interrupted\n");
    EXPECT_THAT(files("s.nmc"), IsEmpty());
  }
}

}  // namespace
}  // namespace nmc
