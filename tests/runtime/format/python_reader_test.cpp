// docs/read_nmc.py, the reader that docs/format.md shows, must find the same values.
#include "runtime/base/hash.h"
#include "runtime/format/model_writer.h"
#include "tests/runtime/format/small_model.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

class PythonReaderTest : public TempFolder {
 protected:
  void SetUp() override {
    if (std::system("python3 -c pass 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
    auto w = ModelWriter::create(folder_ / "m.nmc", small_model(), Json::object(), {{"f", "x"}});
    ASSERT_TRUE(w.ok());
    for (size_t i = 0; i < w->tensors().size(); ++i) {
      const TensorEntry& t = w->tensors()[i];
      std::vector<Bf16> values(t.bytes() / sizeof(Bf16));
      for (size_t j = 0; j < values.size(); ++j) values[j] = value(i, j);
      std::span bytes(reinterpret_cast<const uint8_t*>(values.data()), t.bytes());
      ASSERT_TRUE(w->write(i, 0, bytes).ok());
      w->set_checksum(i, xxh3_64(bytes));
    }
    ASSERT_TRUE(w->finish().ok());
    tensors_ = w->tensors();
  }
  // Value `index` of tensor `tensor`, padding included.
  static Bf16 value(size_t tensor, size_t index) {
    return static_cast<Bf16>(tensor * 4099 + index * 7 + 1);
  }
  // The first word the script prints; empty when it fails.
  std::string read(const std::string& arguments) {
    std::string command = "python3 " NMC_SOURCE_DIR "/docs/read_nmc.py " +
                          (folder_ / "m.nmc").string() + " " + arguments + " 2>/dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string out;
    for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    return ::pclose(pipe) == 0 ? out.substr(0, out.find(' ')) : "";
  }

  std::vector<TensorEntry> tensors_;
};

TEST_F(PythonReaderTest, FindsTheSameValues) {
  struct Case {
    const char* name;
    int64_t matrix, row, col;
  };
  for (Case c : {Case{"layers.0.norm", 0, 0, 71},
                 {"layers.0.qkv", 0, 0, 0},
                 {"layers.1.qkv", 0, 47, 70},
                 {"layers.1.experts.gate_up", 2, 9, 70},
                 {"layers.1.experts.down", 1, 71, 4},
                 {"embedding", 0, 19, 65}}) {
    size_t i = 0;
    while (tensors_[i].name != c.name) ++i;
    auto at = static_cast<size_t>(c.matrix) * tensors_[i].matrix_bytes() / 2;
    at += static_cast<size_t>(
        tensors_[i].layout == TensorLayout::kVector
            ? c.col
            : tiled_index(c.row, c.col, static_cast<int64_t>(tensors_[i].cols)));
    char expected[8];
    std::snprintf(expected, sizeof expected, "%04x", unsigned{value(i, at)});
    EXPECT_EQ(read(std::string(c.name) + " " + std::to_string(c.matrix) + " " +
                   std::to_string(c.row) + " " + std::to_string(c.col)),
              expected)
        << c.name;
  }
}

TEST_F(PythonReaderTest, RefusesPaddingAndNonsense) {
  EXPECT_EQ(read("layers.1.experts.down 0 0 5"), "");  // 5 columns, 64 stored
  EXPECT_EQ(read("layers.1.experts.down 3 0 0"), "");
  EXPECT_EQ(read("layers.7.norm 0 0 0"), "");
  EXPECT_EQ(read("--help"), "");
}

}  // namespace
}  // namespace nmc
