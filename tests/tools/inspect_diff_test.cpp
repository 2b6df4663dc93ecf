// inspect --diff on files that differ in one thing each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "convert/convert.h"
#include "runtime/base/bf16.h"
#include "runtime/base/hash.h"
#include "runtime/format/model_file.h"
#include "runtime/format/model_writer.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/require.h"
#include "tests/support/temporary_folder.h"

namespace nmc {
namespace {

using test::require;
using testing::HasSubstr;

class InspectDiffTest : public ::testing::Test {
 protected:
  InspectDiffTest() : nano_(folder_ / "nano.nmc") {
    require(
        convert_checkpoint(test::source_dir() / "models/cohere2moe-nano", false, {.out = nano_}));
  }

  // The same weights without the embedded files, but for `value` at `index` of `tensor`.
  std::filesystem::path changed(const std::string& tensor, size_t index, Bf16 value,
                                double logit_scale) const {
    const ModelFile file = require(ModelFile::open(nano_));
    ModelDescription model = file.model();
    model.logit_scale = logit_scale;
    const auto path = folder_ / "changed.nmc";
    ModelWriter writer = require(ModelWriter::create(path, model, Json::object(), {}));
    for (size_t i = 0; i < writer.tensors().size(); ++i) {
      const TensorEntry& source = *file.find(writer.tensors()[i].name);
      const auto bytes = file.bytes(source);
      std::vector<uint8_t> copy(bytes.begin(), bytes.end());
      if (source.name == tensor) std::memcpy(copy.data() + index * 2, &value, 2);
      require(writer.write(i, 0, copy));
      writer.set_checksum(i, xxh3_64(copy.data(), copy.size()));
    }
    require(writer.finish());
    return path;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path nano_;
};

TEST_F(InspectDiffTest, AFileIsWhatItIs) {
  const auto run = test::run_program("inspect", {nano_, "--diff", nano_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the same"));
}

TEST_F(InspectDiffTest, NamesEachThingThatDiffers) {
  const ModelFile file = require(ModelFile::open(nano_));
  const auto other = changed("layers.1.qkv", 7, float_to_bf16(100), file.model().logit_scale * 2);
  const auto run = test::run_program("inspect", {nano_, "--diff", other});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("model logit_scale: "));
  EXPECT_THAT(run.out, HasSubstr("file tokenizer.json: only in the first"));
  EXPECT_THAT(run.out, HasSubstr("tensor layers.1.qkv: 1 of "));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("layers.1.experts")));
  EXPECT_THAT(test::run_program("inspect", {other, "--diff", nano_}).out,
              HasSubstr("file tokenizer.json: only in the second"));
}

TEST_F(InspectDiffTest, WantsAModelFile) {
  const auto run = test::run_program("inspect", {nano_, "--diff", folder_ / "none"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("none"));
  EXPECT_EQ(test::run_program("inspect", {nano_, "--diff", nano_, "--check"}).code, 2);
}

}  // namespace
}  // namespace nmc
