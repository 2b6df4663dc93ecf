// How a checkpoint folder is found, complete or not.
#include "convert/checkpoint.h"

#include <gmock/gmock.h>

#include "tests/convert/test_checkpoint.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckpointTest : public TempFolder {
 protected:
  // The small tensors in two shards.
  std::vector<TestTensors> shards() {
    TestTensors first = small_tensors(), second;
    second.insert(first.extract("model.norm.weight"));
    second.insert(first.extract("model.embed_tokens.weight"));
    return {first, second};
  }
};

TEST_F(CheckpointTest, ShardsGiveTheSameWeightsAsOneFile) {
  auto one = write_checkpoint(folder_ / "one", small_config(), small_tensors());
  auto two = write_shards(folder_ / "two", small_config(), shards());
  EXPECT_EQ(weights_of(convert_ok(one)), weights_of(convert_ok(two)));

  std::filesystem::remove(two / "model.safetensors.index.json");
  EXPECT_EQ(weights_of(convert_ok(one)), weights_of(convert_ok(two)));
}

TEST_F(CheckpointTest, AMissingShardIsNamed) {
  auto folder = write_shards(folder_ / "c", small_config(), shards());
  std::filesystem::remove(folder / "model-2.safetensors");
  EXPECT_THAT(convert_error(folder),
              AllOf(HasSubstr("shard model-2.safetensors"), HasSubstr("is missing")));
}

TEST_F(CheckpointTest, ATensorThatIsNotInItsShardIsNamed) {
  auto all = shards();
  auto folder = write_shards(folder_ / "c", small_config(), all);
  all[1].erase("model.norm.weight");
  write_safetensors(folder / "model-2.safetensors", all[1]);
  EXPECT_THAT(convert_error(folder),
              HasSubstr("\"model.norm.weight\" is not in model-2.safetensors"));
  all = shards();
  all[1]["extra"] = zeros({1});
  write_safetensors(folder / "model-2.safetensors", all[1]);
  EXPECT_THAT(convert_error(folder), HasSubstr("\"extra\" in model-2.safetensors is not listed"));
}

TEST_F(CheckpointTest, AnIndexThatPointsOutOfTheFolderIsRefused) {
  auto folder = write_shards(folder_ / "c", small_config(), shards());
  for (std::string file : {"../model-2.safetensors", "/etc/passwd", "..", ""}) {
    write_text(folder / "model.safetensors.index.json",
               Json{{"weight_map", {{"model.norm.weight", file}}}}.dump());
    EXPECT_NE(convert_error(folder), "") << file;
  }
  write_text(folder / "model.safetensors.index.json", R"({"weight_map":[]})");
  EXPECT_THAT(convert_error(folder), HasSubstr("no \"weight_map\" object"));
}

TEST_F(CheckpointTest, ATensorInTwoFilesIsRefused) {
  auto folder = write_checkpoint(folder_ / "c", small_config(), small_tensors());
  std::filesystem::rename(folder / "model.safetensors", folder / "a.safetensors");
  write_safetensors(folder / "b.safetensors", {{"model.norm.weight", zeros({72})}});
  EXPECT_THAT(convert_error(folder), HasSubstr("\"model.norm.weight\" stands in two files"));
}

TEST_F(CheckpointTest, FoldersThatAreNoCheckpointSaySo) {
  EXPECT_THAT(convert_error(folder_ / "none"), HasSubstr("not a folder"));
  EXPECT_THAT(convert_error(folder_), HasSubstr("no config.json"));
  write_text(folder_ / "config.json", small_config().dump());
  EXPECT_THAT(convert_error(folder_), HasSubstr("holds no *.safetensors"));
}

TEST_F(CheckpointTest, ConfigVariants) {
  Json config = small_config();
  config["rope_parameters"] = {{"rope_theta", 50000.0}, {"rope_type", "default"}};
  auto nested = write_checkpoint(folder_ / "nested", config, small_tensors());
  config.erase("rope_parameters");
  config["rope_theta"] = 50000;
  auto top = write_checkpoint(folder_ / "top", config, small_tensors());
  EXPECT_EQ(convert_ok(nested).model(), convert_ok(top).model());
  EXPECT_EQ(convert_ok(top).model().rope_theta, 50000);

  // layer_types absent and spelled out mean the same.
  config["layer_types"] = {"full_attention", "sliding_attention"};
  config["mlp_layer_types"] = {"dense", "sparse"};
  auto listed = write_checkpoint(folder_ / "listed", config, small_tensors());
  EXPECT_EQ(convert_ok(listed).model(), convert_ok(top).model());

  write_text(listed / "generation_config.json", R"({"eos_token_id": [2, 7]})");
  EXPECT_THAT(convert_ok(listed).model().eos_tokens, ::testing::ElementsAre(2, 7));
  write_text(listed / "generation_config.json", R"({"eos_token_id": 21})");
  EXPECT_THAT(convert_error(listed), HasSubstr("generation_config.json: eos_token_id 21"));

  config["model_type"] = "llama";
  auto other = write_checkpoint(folder_ / "other", config, small_tensors());
  EXPECT_THAT(convert_error(other), HasSubstr("\"llama\""));
}

}  // namespace
}  // namespace nmc
