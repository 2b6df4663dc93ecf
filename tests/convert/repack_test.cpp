// The bytes that conversion writes: places computed by hand, and independence of threads.
#include "convert/repack.h"

#include <gmock/gmock.h>

#include "convert/verify.h"
#include "tests/convert/test_checkpoint.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

class RepackTest : public TempFolder {
 protected:
  std::filesystem::path small() {
    return write_checkpoint(folder_ / "small", small_config(), small_tensors());
  }
};

// Places by docs/format.md: 72 columns are padded to 128, so a group of 8 rows has 1024 values and
// an atom 512; chunk c of row r stands at c ^ r.
TEST_F(RepackTest, PlacesComputedByHand) {
  ModelFile file = convert_ok(small());
  struct Case {
    const char* stored;
    uint64_t matrix, index;
    const char* source;
    uint64_t row, col;
  };
  const std::string l0 = "model.layers.0.", l1 = "model.layers.1.";
  for (Case c : {
           // Row 0, column 0, and the first column of the second atom.
           Case{"embedding", 0, 0, "model.embed_tokens.weight", 0, 0},
           {"embedding", 0, 512, "model.embed_tokens.weight", 0, 64},
           // Row 20 is row 4 of group 2; column 70 is column 6 of chunk 0 of atom 1: chunk 4.
           {"embedding", 0, 2 * 1024 + 512 + 4 * 64 + 4 * 8 + 6, "model.embed_tokens.weight", 20,
            70},
           // Two KV groups of heads q q k v, in blocks of 2 dims. Row 12: group 0, block 1, head 2
           // (k), dim 2. Row 12 is row 4 of row group 1.
           {"layers.0.qkv", 0, 1024 + 512 + 4 * 64 + 4 * 8 + 6,
            "model.layers.0.self_attn.k_proj.weight", 2, 70},
           // Row 24 opens KV group 1: q head 2, dim 0.
           {"layers.0.qkv", 0, 3 * 1024, "model.layers.0.self_attn.q_proj.weight", 12, 0},
           // Row 31 ends that block: v head 1, dim 1. Row 7, column 9 is chunk 1: at 6.
           {"layers.1.qkv", 0, 3 * 1024 + 7 * 64 + 6 * 8 + 1,
            "model.layers.1.self_attn.v_proj.weight", 7, 9},
           // gate 0, up 0, gate 1, ...: row 3 is up 1; column 8 is chunk 1: at 1 ^ 3 = 2.
           {"layers.0.gate_up", 0, 3 * 64 + 2 * 8, "model.layers.0.mlp.up_proj.weight", 1, 8},
           // Expert 2: 10 rows padded to 16. Row 8 (gate 4) opens row group 1.
           {"layers.1.experts.gate_up", 2, 1024 + 5,
            "model.layers.1.mlp.experts.2.gate_proj.weight", 4, 5},
           // 5 columns padded to 64: a group has 512 values. Row 71 is row 7 of group 8.
           {"layers.1.experts.down", 1, 8 * 512 + 7 * 64 + 7 * 8 + 4,
            "model.layers.1.mlp.experts.1.down_proj.weight", 71, 4},
           {"layers.1.router", 0, 2 * 64 + 2 * 8, "model.layers.1.mlp.gate.weight", 2, 0},
           {"layers.1.norm", 0, 71, "model.layers.1.input_layernorm.weight", 0, 71},
       }) {
    const TensorEntry* t = file.find(c.stored);
    ASSERT_NE(t, nullptr) << c.stored;
    uint64_t cols = small_tensors()[c.source].shape.back();
    EXPECT_EQ(file.matrix(*t, c.matrix)[c.index], test_value(c.source, c.row * cols + c.col))
        << c.stored << " at " << c.index;
  }
}

TEST_F(RepackTest, TheFileDoesNotDependOnTheNumberOfThreads) {
  auto folder = small();
  std::string one = weights_of(convert_ok(folder, 1));
  ModelFile file = convert_ok(folder, 7);
  EXPECT_EQ(weights_of(file), one);
  for (const TensorEntry& t : file.header().tensors) EXPECT_TRUE(file.check(t).ok()) << t.name;
}

TEST_F(RepackTest, PiecesCoverEveryTensorInOrder) {
  ModelFile file = convert_ok(small());
  std::vector<TensorSpec> specs(file.header().tensors.begin(), file.header().tensors.end());
  for (uint64_t target : {1, 1024, 5000, 1 << 20}) {
    std::vector<uint64_t> covered(specs.size());
    size_t last = 0;
    for (const Piece& p : cut_pieces(specs, target)) {
      ASSERT_GE(p.tensor, last);
      ASSERT_EQ(p.offset, covered[p.tensor]);
      covered[p.tensor] += p.bytes;
      last = p.tensor;
    }
    for (size_t i = 0; i < specs.size(); ++i) EXPECT_EQ(covered[i], specs[i].bytes());
  }
}

TEST_F(RepackTest, PiecesOfAllThreadsFitInABoundedMemory) {
  for (size_t threads : {1, 2, 16, 128, 1024}) {
    EXPECT_LE(piece_bytes(threads) * threads, 256u << 20) << threads;
  }
}

// Ctrl-C and tensors of several pieces are tested on the program, golden checkpoints in
// verify_test.
TEST_F(RepackTest, FilesOfTheCheckpointTravelAlong) {
  auto folder = small();
  const std::string tokenizer =
      *read_file(NMC_SOURCE_DIR "/models/cohere2moe-nano/tokenizer.json", 1 << 24);
  write_text(folder / "tokenizer.json", tokenizer);
  write_text(
      folder / "tokenizer_config.json",
      R"({"chat_template":[{"name":"rag","template":"r"},{"name":"default","template":"d"}]})");
  ModelFile file = convert_ok(folder);
  EXPECT_EQ(*file.embedded("tokenizer.json"), tokenizer);
  EXPECT_EQ(*file.embedded("chat_template.jinja"), "d");
  EXPECT_EQ(*file.embedded("config.json"), small_config().dump());
  EXPECT_FALSE(file.has_embedded("tokenizer.model"));
  write_text(folder / "chat_template.jinja", "own file");
  EXPECT_EQ(*convert_ok(folder).embedded("chat_template.jinja"), "own file");
  EXPECT_EQ(file.header().provenance["source"], "small");
}

}  // namespace
}  // namespace nmc
