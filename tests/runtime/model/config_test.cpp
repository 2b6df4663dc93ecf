// What a config.json that is accepted turns into.
#include "runtime/model/config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/base/file.h"
#include "tests/runtime/model/north_config.h"

namespace nmc {
namespace {

ModelDescription read(const Json& config) {
  auto m = description_from_config(config);
  EXPECT_TRUE(m.ok()) << m.status().message();
  return m.ok() ? *m : ModelDescription{};
}

TEST(Config, NorthMiniCode) {
  ModelDescription m = north();
  EXPECT_EQ(m.architecture, "cohere2_moe");
  EXPECT_EQ(m.vocab, 262144);
  EXPECT_EQ(m.hidden, 2048);
  EXPECT_EQ(m.heads, 32);
  EXPECT_EQ(m.kv_heads, 4);
  EXPECT_EQ(m.head_dim, 128);
  EXPECT_EQ(m.q_width(), 4096);  // twice the hidden size
  EXPECT_EQ(m.dense_width, 3072);
  EXPECT_EQ(m.expert_width, 768);
  EXPECT_EQ(m.experts, 128);
  EXPECT_EQ(m.experts_per_token, 8);
  EXPECT_EQ(m.router, RouterKind::kSigmoid);
  EXPECT_FALSE(m.renormalize);
  EXPECT_EQ(m.norm, NormKind::kRms);
  EXPECT_EQ(m.norm_eps, 1e-6);
  EXPECT_EQ(m.rope_theta, 50000);
  EXPECT_EQ(m.logit_scale, 1.0);
  EXPECT_TRUE(m.tied_head);
  EXPECT_EQ(m.max_context, 500000);
  EXPECT_EQ(m.bos_token, 2);
  EXPECT_EQ(m.pad_token, 0);
  EXPECT_EQ(m.eos_tokens, std::vector<int32_t>{255001});
}

TEST(Config, NorthRotatesLayerZeroAndTheSlidingOnes) {
  ModelDescription m = north();
  ASSERT_EQ(m.layers.size(), 49u);
  for (size_t i = 0; i < 49; ++i) {
    bool full = i % 4 == 0;
    EXPECT_EQ(m.layers[i].sparse, i > 0) << i;
    EXPECT_EQ(m.layers[i].window, full ? 0 : 4096) << i;
    EXPECT_EQ(m.layers[i].rope, i == 0 || !full) << i;
  }
  EXPECT_EQ(std::count_if(m.layers.begin(), m.layers.end(), [](auto& l) { return l.rope; }), 37);
}

TEST(Config, DerivedLayerTypesEqualTheExplicitList) {
  Json c = north_config();
  c.erase("layer_types");
  EXPECT_EQ(read(c), north());
  c["mlp_layer_types"] = Json::array({"dense"});
  for (int i = 1; i < 49; ++i) c["mlp_layer_types"].push_back("sparse");
  EXPECT_EQ(read(c), north());
}

TEST(Config, AWindowedPrefixTakesNoForcedRope) {
  Json c = north_config();
  c.erase("layer_types");
  c["first_k_dense_replace"] = 3;
  c["prefix_dense_sliding_window_pattern"] = 2;
  ModelDescription m = read(c);
  EXPECT_EQ(m.layers[0], (LayerDescription{false, true, 4096}));
  EXPECT_EQ(m.layers[1], (LayerDescription{false, false, 0}));
  EXPECT_EQ(m.layers[2], (LayerDescription{false, true, 4096}));
  EXPECT_EQ(m.layers[3], (LayerDescription{true, true, 4096}));  // counting starts anew
  EXPECT_EQ(m.layers[6], (LayerDescription{true, false, 0}));
}

TEST(Config, ADenseLayerOutsideThePrefixIsRotatedToo) {
  Json c = north_config();
  c["mlp_layer_types"] = Json::array();
  for (int i = 0; i < 49; ++i) c["mlp_layer_types"].push_back(i == 8 ? "dense" : "sparse");
  ModelDescription m = read(c);
  EXPECT_EQ(m.layers[8], (LayerDescription{false, true, 0}));
  EXPECT_EQ(m.layers[0], (LayerDescription{true, false, 0}));
}

TEST(Config, MissingKeysTakeTheClassDefaults) {
  ModelDescription m = read(Json{{"model_type", "cohere2_moe"}});
  EXPECT_EQ(m.vocab, 256000);
  EXPECT_EQ(m.hidden, 8192);
  EXPECT_EQ(m.expert_width, 22528);
  EXPECT_EQ(m.dense_width, 0);  // no layer is dense
  EXPECT_EQ(m.heads, 64);
  EXPECT_EQ(m.kv_heads, 64);
  EXPECT_EQ(m.head_dim, 128);
  EXPECT_EQ(m.max_context, 8192);
  EXPECT_EQ(m.logit_scale, 0.0625);
  EXPECT_EQ(m.rope_theta, 10000);
  EXPECT_EQ(m.experts, 8);
  EXPECT_EQ(m.experts_per_token, 2);
  EXPECT_EQ(m.shared_experts, 0);
  EXPECT_EQ(m.shared_combine, SharedCombine::kAverage);
  EXPECT_EQ(m.router, RouterKind::kSoftmax);
  EXPECT_TRUE(m.renormalize);
  EXPECT_EQ(m.norm, NormKind::kLayer);
  EXPECT_EQ(m.norm_eps, 1e-5);
  EXPECT_TRUE(m.tied_head);
  EXPECT_EQ(m.bos_token, 5);
  EXPECT_EQ(m.pad_token, 0);
  EXPECT_EQ(m.eos_tokens, std::vector<int32_t>{255001});
  ASSERT_EQ(m.layers.size(), 40u);
  EXPECT_EQ(m.layers[0], (LayerDescription{true, true, 4096}));
  EXPECT_EQ(m.layers[3], (LayerDescription{true, false, 0}));
}

TEST(Config, DefaultTokensOutsideASmallVocabularyAreNone) {
  Json c = north_config();
  c["vocab_size"] = 100;
  c.erase("eos_token_id");
  c["bos_token_id"] = nullptr;  // said to be none, which is not the same as not said
  ModelDescription m = read(c);
  EXPECT_TRUE(m.eos_tokens.empty());
  EXPECT_EQ(m.bos_token, -1);
}

TEST(Config, TheDenseWidthDefaultsToTheExpertWidth) {
  Json c = north_config();
  c["prefix_dense_intermediate_size"] = nullptr;
  EXPECT_EQ(read(c).dense_width, 768);
}

TEST(Config, RmsWhenItsEpsilonIsThereLayerNormOtherwise) {
  Json c = north_config();
  EXPECT_EQ(read(c).norm, NormKind::kRms);
  c["rms_norm_eps"] = nullptr;
  c["layer_norm_eps"] = 2e-5;
  EXPECT_EQ(read(c).norm, NormKind::kLayer);
  EXPECT_EQ(read(c).norm_eps, 2e-5);
}

TEST(Config, RopeThetaAtEitherPlace) {
  Json c = north_config();
  c["rope_parameters"] = Json{{"rope_type", "default"}};
  EXPECT_EQ(read(c).rope_theta, 50000);
  c["rope_parameters"]["rope_theta"] = 50000.0;
  EXPECT_EQ(read(c).rope_theta, 50000);
  c.erase("rope_theta");
  c["rope_parameters"]["rope_theta"] = 7.5;
  EXPECT_EQ(read(c).rope_theta, 7.5);
}

TEST(Config, ATextConfigInsideAnotherModelIsRead) {
  Json outer{{"model_type", "cohere2_vision"}, {"text_config", north_config()}};
  EXPECT_EQ(read(outer), north());
  outer["tie_word_embeddings"] = false;
  EXPECT_FALSE(read(outer).tied_head);
  outer["text_config"]["tie_word_embeddings"] = true;  // the inner word counts
  EXPECT_TRUE(read(outer).tied_head);
}

TEST(Config, SeveralEndTokens) {
  Json c = north_config();
  c["eos_token_id"] = {255001, 7};
  ModelDescription m = read(c);
  EXPECT_EQ(m.eos_tokens, (std::vector<int32_t>{255001, 7}));
  ASSERT_TRUE(add_generation_config(Json{{"eos_token_id", {7, 9}}}, &m).ok());
  EXPECT_EQ(m.eos_tokens, (std::vector<int32_t>{255001, 7, 9}));
  ASSERT_TRUE(add_generation_config(Json{{"eos_token_id", 11}}, &m).ok());
  EXPECT_EQ(m.eos_tokens.back(), 11);
  ASSERT_TRUE(add_generation_config(Json::object(), &m).ok());
  EXPECT_EQ(m.eos_tokens.size(), 4u);
}

TEST(Config, TheBundledNanoModel) {
  auto text = read_file(NMC_SOURCE_DIR "/models/cohere2moe-nano/config.json", 1 << 20);
  ASSERT_TRUE(text.ok());
  auto json = parse_json(*text, "config.json");
  ASSERT_TRUE(json.ok());
  ModelDescription m = read(*json);
  EXPECT_EQ(m.layers.size(), 5u);
  EXPECT_EQ(m.layers[0], (LayerDescription{false, true, 0}));
  EXPECT_EQ(m.layers[1], (LayerDescription{true, true, 16}));
  EXPECT_EQ(m.layers[4], (LayerDescription{true, false, 0}));
  EXPECT_EQ(m.norm, NormKind::kRms);
  EXPECT_EQ(m.logit_scale, 0.25);
  EXPECT_TRUE(m.renormalize);
  EXPECT_EQ(m.q_width(), 128);
  EXPECT_EQ(m.eos_tokens, std::vector<int32_t>{2});
}

}  // namespace
}  // namespace nmc
