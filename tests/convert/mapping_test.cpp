// Which tensors of a checkpoint become which weights: names, layouts, heads, biases, types.
#include "convert/mapping.h"

#include <gmock/gmock.h>

#include "tests/convert/test_checkpoint.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class MappingTest : public TempFolder {
 protected:
  std::filesystem::path checkpoint(const TestTensors& tensors,
                                   const Json& config = small_config()) {
    return write_checkpoint(folder_ / std::to_string(count_++), config, tensors);
  }
  std::string weights(const TestTensors& tensors) {
    return weights_of(convert_ok(checkpoint(tensors)));
  }
  std::string error(const TestTensors& tensors) { return convert_error(checkpoint(tensors)); }

  int count_ = 0;
};

TEST_F(MappingTest, EveryNamingGivesTheSameFile) {
  TestTensors usual = small_tensors();
  std::string expected = weights(usual);
  EXPECT_EQ(weights(with_fused_experts(usual)), expected);
  EXPECT_EQ(weights(with_stacked_experts(usual)), expected);
  EXPECT_EQ(weights(with_prefix(usual, "", "language_model.")), expected);
  EXPECT_EQ(weights(with_prefix(usual, "model.", "model.language_model.")), expected);
  EXPECT_EQ(weights(with_prefix(with_fused_experts(usual), "", "language_model.")), expected);
}

TEST_F(MappingTest, WhatAddsNothingIsDroppedAndRecorded) {
  TestTensors t = small_tensors();
  t["model.layers.0.self_attn.rotary_emb.inv_freq"] = zeros({3});
  t["model.layers.0.self_attn.q_proj.bias"] = zeros({24});
  t["model.layers.1.mlp.gate.e_score_correction_bias"] = {{3}, std::string(12, '\0'), "F32"};
  t["vision_tower.patch.weight"] = test_tensor("v", {4, 4});
  ModelFile file = convert_ok(checkpoint(t));
  EXPECT_EQ(weights_of(file), weights(small_tensors()));
  EXPECT_EQ(file.header().provenance["dropped_tensors"].size(), 4u);
}

TEST_F(MappingTest, ABiasThatIsNotZeroIsRefused) {
  TestTensors t = small_tensors();
  t["model.layers.0.self_attn.q_proj.bias"] = zeros({24});
  t["model.layers.0.self_attn.q_proj.bias"].bytes[47] = '\x80';  // -0 is zero
  EXPECT_EQ(error(t), "");
  t["model.layers.0.self_attn.q_proj.bias"].bytes[46] = 1;
  EXPECT_THAT(error(t), AllOf(HasSubstr("q_proj.bias\" is a bias"), HasSubstr("not zero")));
}

TEST_F(MappingTest, AnLmHeadBesideATiedConfig) {
  TestTensors t = small_tensors();
  t["lm_head.weight"] = t["model.embed_tokens.weight"];
  ModelFile equal = convert_ok(checkpoint(t));
  EXPECT_TRUE(equal.model().tied_head);
  EXPECT_EQ(weights_of(equal), weights(small_tensors()));
  EXPECT_THAT(equal.header().provenance["dropped_tensors"], ElementsAre("lm_head.weight"));

  t["lm_head.weight"].bytes.back() ^= 1;
  ModelFile different = convert_ok(checkpoint(t));
  EXPECT_FALSE(different.model().tied_head);
  EXPECT_NE(different.find("head"), nullptr);
}

TEST_F(MappingTest, AnUntiedConfigNeedsItsHead) {
  Json config = small_config();
  config["tie_word_embeddings"] = false;
  TestTensors t = small_tensors();
  EXPECT_THAT(convert_error(checkpoint(t, config)),
              HasSubstr("no tensor \"lm_head.weight\" of shape [21, 72]"));
  t["lm_head.weight"] = test_tensor("lm_head.weight", {21, 72});
  EXPECT_FALSE(convert_ok(checkpoint(t, config)).model().tied_head);
}

TEST_F(MappingTest, MissingAndMisshapenTensorsAreNamed) {
  TestTensors t = small_tensors();
  t.erase("model.layers.1.mlp.experts.2.up_proj.weight");
  EXPECT_THAT(error(t), AllOf(HasSubstr("\"model.layers.1.mlp.experts.2.up_proj.weight\""),
                              HasSubstr("[5, 72]")));
  t = small_tensors();
  t["model.layers.0.self_attn.k_proj.weight"] = test_tensor("k", {10, 72});
  EXPECT_THAT(error(t), AllOf(HasSubstr("k_proj.weight\" has the shape [10, 72]"),
                              HasSubstr("asks for [12, 72]")));
  t = with_fused_experts(small_tensors());
  t["model.layers.1.mlp.experts.down_proj"].shape = {3, 5, 72};  // transposed
  EXPECT_THAT(error(t), HasSubstr("asks for [3, 72, 5]"));
}

TEST_F(MappingTest, LeftOverTensorsAreListed) {
  TestTensors t = small_tensors();
  for (int i = 0; i < 9; ++i) t["model.layers.0.mlp.extra" + std::to_string(i)] = zeros({1});
  EXPECT_THAT(error(t),
              AllOf(HasSubstr("9 tensors that config.json does not explain"), HasSubstr("extra0"),
                    HasSubstr("extra4"), HasSubstr("..."), Not(HasSubstr("extra5"))));
  // The same weight under two names.
  t = small_tensors();
  t["language_model.model.norm.weight"] = t["model.norm.weight"];
  EXPECT_THAT(error(t), HasSubstr("mean the same weight"));
  // Both per expert and fused.
  TestTensors both = with_fused_experts(small_tensors());
  both.merge(small_tensors());
  EXPECT_THAT(error(both), HasSubstr("does not explain"));
}

TEST_F(MappingTest, OtherTypesNeedTheCastOrAreRefused) {
  TestTensors wide = with_dtype(small_tensors(), "F32");
  EXPECT_THAT(error(wide), AllOf(HasSubstr("is F32, not BF16"), HasSubstr("--cast-bf16")));
  ModelFile cast = convert_ok(checkpoint(wide), 2, true);
  EXPECT_THAT(cast.header().provenance["cast_to_bf16"], ElementsAre("F32"));
  ModelFile plain = convert_ok(checkpoint(small_tensors()), 2, true);
  EXPECT_TRUE(plain.header().provenance["cast_to_bf16"].empty());

  TestTensors integers = with_dtype(small_tensors(), "I16");
  EXPECT_THAT(convert_error(checkpoint(integers), true), HasSubstr("is I16, not BF16"));
}

}  // namespace
}  // namespace nmc
