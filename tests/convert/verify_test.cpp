#include "convert/verify.h"
#include "convert/convert.h"

#include <gmock/gmock.h>

#include <fstream>

#include "convert/convert.h"
#include "tests/convert/test_checkpoint.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class VerifyTest : public TempFolder {
 protected:
  // Flips bits of the value at `index` of a stored matrix.
  void damage(const fs::path& path, const ModelFile& file, const char* tensor, uint64_t matrix,
              uint64_t index, uint16_t bits) {
    const TensorEntry* t = file.find(tensor);
    uint16_t value = static_cast<uint16_t>(file.matrix(*t, matrix)[index] ^ bits);
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(t->offset + matrix * t->matrix_bytes() + 2 * index));
    out.write(reinterpret_cast<const char*>(&value), 2);
  }
  std::string verify_message(const fs::path& nmc, const fs::path& folder) {
    auto file = ModelFile::open(nmc);
    auto checkpoint = Checkpoint::open(folder);
    EXPECT_TRUE(file.ok() && checkpoint.ok());
    return verify(*file, *checkpoint, 3).message();
  }
};

TEST_F(VerifyTest, GoldenCheckpointsAreInTheirFilesBitForBit) {
  for (const char* name : {"models/cohere2moe-nano", "tests/golden/cohere2moe-tiny"}) {
    fs::path folder = fs::path(NMC_SOURCE_DIR) / name, out = folder_ / "golden.nmc";
    auto converted = convert_checkpoint(folder, false, {.out = out, .replace = true, .threads = 4});
    ASSERT_TRUE(converted.ok()) << converted.status().message();
    EXPECT_EQ(verify_message(out, folder), "") << name;
    EXPECT_TRUE(converted->warnings.empty());
  }
}

TEST_F(VerifyTest, ACastFileIsComparedWithTheRounding) {
  auto folder = write_checkpoint(folder_ / "c", small_config(), with_dtype(small_tensors(), "F32"));
  convert_ok(folder, 2, true);
  EXPECT_EQ(verify_message(folder / "out.nmc", folder), "");
}

TEST_F(VerifyTest, NamesTheFirstDifference) {
  auto folder = write_checkpoint(folder_ / "c", small_config(), small_tensors());
  ModelFile file = convert_ok(folder);
  fs::path out = folder / "out.nmc";
  EXPECT_EQ(verify_message(out, folder), "");

  // up row 1 of expert 2, column 8 (see repack_test): stored row 3, chunk 1 at place 2.
  damage(out, file, "layers.1.experts.gate_up", 2, 3 * 64 + 2 * 8, 1);
  EXPECT_THAT(verify_message(out, folder),
              HasSubstr("tensor \"layers.1.experts.gate_up\", expert 2, row 3, column 8 "
                        "(model.layers.1.mlp.experts.2.up_proj.weight, row 1) holds"));
  damage(out, file, "layers.0.norm", 0, 5, 0x8000);
  EXPECT_THAT(verify_message(out, folder), HasSubstr("\"layers.0.norm\", row 0, column 5"));
}

TEST_F(VerifyTest, PaddingMustBeZero) {
  auto folder = write_checkpoint(folder_ / "c", small_config(), small_tensors());
  ModelFile file = convert_ok(folder);
  fs::path out = folder / "out.nmc";
  damage(out, file, "embedding", 0, 2 * 1024 + 5 * 64, 1);  // row 21 of 21, chunk 5 at place 0
  EXPECT_THAT(verify_message(out, folder),
              HasSubstr("\"embedding\", row 21, column 40 (padding) holds 0x0001"));
  damage(out, file, "layers.1.experts.down", 1, 5, 1);  // column 5 of 5
  EXPECT_THAT(verify_message(out, folder), HasSubstr("expert 1, row 0, column 5 (padding)"));
}

TEST_F(VerifyTest, AnotherCheckpointIsNoticed) {
  auto folder = write_checkpoint(folder_ / "a", small_config(), small_tensors());
  convert_ok(folder);
  TestTensors changed = small_tensors();
  changed["model.norm.weight"].bytes[3] ^= 1;
  auto other = write_checkpoint(folder_ / "b", small_config(), changed);
  EXPECT_THAT(verify_message(folder / "out.nmc", other), HasSubstr("final_norm"));
  Json config = small_config();
  config["logit_scale"] = 0.5;
  auto third = write_checkpoint(folder_ / "c", config, small_tensors());
  EXPECT_THAT(verify_message(folder / "out.nmc", third), HasSubstr("another model"));
}

}  // namespace
}  // namespace nmc
