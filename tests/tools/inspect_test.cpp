// The real program, on files that are whole and files that are not.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "convert/convert.h"
#include "runtime/base/json.h"
#include "runtime/format/model_file.h"
#include "runtime/format/model_writer.h"

namespace nmc {
namespace {

namespace fs = std::filesystem;

const fs::path kNano = NMC_SOURCE_DIR "/models/cohere2moe-nano";

class InspectTest : public ::testing::Test {
 protected:
  struct Run {
    int code;
    std::string out, err;
  };

  static void SetUpTestSuite() {
    folder_ = fs::path(::testing::TempDir()) / ("nmc-inspect-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    auto converted = convert_checkpoint(kNano, false, {.out = folder_ / "nano.nmc"});
    ASSERT_TRUE(converted.ok()) << converted.status().message();
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static Run inspect(const std::string& arguments) {
    fs::path errors = folder_ / "stderr";
    std::string command =
        NMC_BIN_DIR "/inspect " + arguments + " 2>" + errors.string() + " </dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Run run;
    char buffer[4096];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) run.out.append(buffer, n);
    int status = ::pclose(pipe);
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run.err = read_file(errors, 1 << 20).value();
    return run;
  }
  static std::string nano() { return (folder_ / "nano.nmc").string(); }

  // A copy whose byte at `at` differs.
  static std::string damaged(uint64_t at) {
    fs::path path = folder_ / "damaged.nmc";
    fs::copy_file(folder_ / "nano.nmc", path, fs::copy_options::overwrite_existing);
    std::FILE* f = std::fopen(path.c_str(), "r+b");
    std::fseek(f, static_cast<long>(at), SEEK_SET);
    int byte = std::fgetc(f);
    std::fseek(f, static_cast<long>(at), SEEK_SET);
    std::fputc(byte ^ 0x10, f);
    std::fclose(f);
    return path.string();
  }
  static void expect_failure(const Run& run, const std::string& words) {
    EXPECT_EQ(run.code, 1) << run.out;
    EXPECT_EQ(run.err.find("inspect: "), 0u) << run.err;
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  }

  static inline fs::path folder_;
};

TEST_F(InspectTest, ThePageNamesWhatMatters) {
  Run run = inspect(nano());
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  for (const char* words :
       {"architecture cohere2_moe", "context      512 tokens", "8 of width 32, 2 per token",
        "RMS, epsilon 1e-06", "source: \"cohere2moe-nano\"", "tokenizer.json", "layers.0.qkv",
        "[8, 64, 128]", "gate_up", "final_norm", "embedding", "bos 1, eos 2"}) {
    EXPECT_NE(run.out.find(words), std::string::npos) << words << "\n" << run.out;
  }
  EXPECT_EQ(run.out.find('\033'), std::string::npos);  // a pipe gets no colours
}

TEST_F(InspectTest, JsonHoldsEveryTensorInFileOrder) {
  Run run = inspect("--json " + nano());
  EXPECT_EQ(run.code, 0);
  auto json = parse_json(run.out, "output");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ((*json)["format_version"], 1);
  EXPECT_EQ((*json)["model"]["hidden"], 128);
  EXPECT_EQ((*json)["file_bytes"], fs::file_size(nano()));
  EXPECT_TRUE((*json)["files"].contains("tokenizer.json"));
  EXPECT_TRUE((*json)["provenance"].contains("source"));
  ModelFile file = ModelFile::open(nano()).value();
  EXPECT_EQ((*json)["parameters"], file.model().parameters());
  const auto& tensors = file.header().tensors;
  ASSERT_EQ((*json)["tensors"].size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Json& t = (*json)["tensors"][i];
    EXPECT_EQ(t["name"], tensors[i].name);
    EXPECT_EQ(t["offset"], tensors[i].offset);
    EXPECT_EQ(t["bytes"], tensors[i].bytes());
    EXPECT_EQ(t["row_block"], tensors[i].row_block);
    EXPECT_EQ(std::stoull(t["xxh3"].get<std::string>(), nullptr, 16), tensors[i].checksum);
  }
}

TEST_F(InspectTest, CheckReadsEveryByte) {
  Run run = inspect("--check --threads 2 " + nano());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("every checksum matches"), std::string::npos);

  ModelFile file = ModelFile::open(nano()).value();
  const TensorEntry& down = *file.find("layers.3.experts.down");
  expect_failure(inspect("--check " + damaged(down.offset + down.bytes() - 1)),
                 "tensor \"layers.3.experts.down\"");
  expect_failure(inspect("--check " + damaged(file.header().files.at("tokenizer.json").offset)),
                 "tokenizer.json");
  const auto& tensors = file.header().tensors;
  for (size_t i = 0; i + 1 < tensors.size(); ++i) {
    const uint64_t end = tensors[i].offset + tensors[i].bytes();
    if (end == tensors[i + 1].offset) continue;
    expect_failure(inspect("--check " + damaged(end)), "is not zero");
    return;
  }
  FAIL() << "no gap between tensors";
}

TEST_F(InspectTest, AFullDiskIsNoSuccess) {
  for (const std::string& arguments : {nano(), "--check " + nano(), std::string("--version"),
                                       std::string("--help"), "--json " + nano()}) {
    const std::string command = NMC_BIN_DIR "/inspect " + arguments + " >/dev/full 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << arguments;
  }
}

TEST_F(InspectTest, DamagedHeadsAndOtherFiles) {
  expect_failure(inspect(damaged(20)), "damaged.nmc");
  expect_failure(inspect(damaged(4200)), "checksum");
  std::string cut = damaged(20);
  fs::resize_file(cut, 100'000);
  expect_failure(inspect(cut), "damaged.nmc");
  expect_failure(inspect((kNano / "config.json").string()), "not a .nmc model file");
  expect_failure(inspect((folder_ / "none.nmc").string()), "none.nmc");
  expect_failure(inspect(folder_.string()), "not a regular file");
}

TEST_F(InspectTest, VerifyComparesWithTheCheckpoint) {
  Run run = inspect("--check --verify " + kNano.string() + " " + nano());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("every value equals"), std::string::npos);

  ModelFile file = ModelFile::open(nano()).value();
  expect_failure(inspect("--verify " + kNano.string() + " " +
                         damaged(file.find("layers.2.experts.gate_up")->offset)),
                 "layers.2.experts.gate_up");
  expect_failure(inspect("--verify " NMC_SOURCE_DIR "/tests/golden/cohere2moe-tiny " + nano()),
                 "nano.nmc");
  expect_failure(inspect("--verify " + folder_.string() + " " + nano()), "config.json");
}

TEST_F(InspectTest, ThePlanOfOneWorkerAndOfAll) {
  Run text = inspect(nano() + " --plan --workers 4 --worker 3 --context 512");
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"4 workers", "worker 3:", "qkv", "expert_down", "publish"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  Run json = inspect(nano() + " --plan --json --workers 4");
  ASSERT_EQ(json.code, 0) << json.err;
  auto plan = parse_json(json.out, "plan");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)["workers"].size(), 4u);
  EXPECT_EQ(inspect(nano() + " --plan --workers 4 --worker 4").code, 2);
}

TEST_F(InspectTest, AFileCannotDriveTheTerminal) {
  fs::path path = folder_ / "\033[31mred.nmc";
  auto w = ModelWriter::create(path, ModelFile::open(nano())->model(), Json{{"a\033[2J", "\033c"}},
                               {{"\033]0;title\007", "x"}});
  ASSERT_TRUE(w.ok() && w->finish().ok());
  for (const char* arguments : {"", "--json ", "--check "}) {
    Run run = inspect(arguments + ("'" + path.string() + "'"));
    EXPECT_EQ((run.out + run.err).find('\033'), std::string::npos) << run.out << run.err;
  }
}

TEST_F(InspectTest, Usage) {
  EXPECT_EQ(inspect("--help").code, 0);
  EXPECT_NE(inspect("--help").out.find("--verify"), std::string::npos);
  EXPECT_EQ(inspect("--version").out.find("nmc "), 0u);
  for (const char* arguments : {"", "--what", "a b", "a --threads 0", "a --json --check"}) {
    Run run = inspect(arguments);
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_EQ(run.err.find("inspect: "), 0u) << run.err;
  }
}

}  // namespace
}  // namespace nmc
