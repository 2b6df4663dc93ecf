// What a config.json must not say: every refusal is a sentence that names the key.
#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/model/north_config.h"

namespace nmc {
namespace {

// North's config with one key changed.
Status with(const char* key, Json value) {
  Json c = north_config();
  c[key] = std::move(value);
  return description_from_config(c).status();
}

void expect_refused(const Status& s, StatusCode code, const std::string& words) {
  EXPECT_FALSE(s.ok()) << words;
  EXPECT_EQ(s.code(), code) << s.message();
  EXPECT_NE(s.message().find(words), std::string::npos) << s.message();
  EXPECT_NE(s.message().find("config.json"), std::string::npos) << s.message();
}

TEST(ConfigRefusal, WhatIsNotComputedIsRefusedByName) {
  struct Case {
    const char* key;
    Json value;
  };
  for (const Case& c :
       {Case{"model_type", "llama"}, Case{"attention_bias", true}, Case{"mlp_bias", true},
        Case{"use_qk_norm", true}, Case{"use_parallel_block", false},
        Case{"use_gated_activation", false}, Case{"hidden_act", "gelu"}, Case{"rotary_pct", 0.5},
        Case{"partial_rotary_factor", 0.5}, Case{"position_embedding_type", "rope_neox"},
        Case{"quantization_config", Json{{"bits", 4}}}, Case{"expert_selection_fn", "tanh"},
        Case{"shared_expert_combination_strategy", "max"}, Case{"num_hidden_layers", 0},
        Case{"num_hidden_layers", 1'000'000'000}}) {
    expect_refused(with(c.key, c.value), StatusCode::kUnsupported, c.key);
  }
}

TEST(ConfigRefusal, ScaledRope) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    expect_refused(with(key, Json{{"rope_type", "yarn"}}), StatusCode::kUnsupported, key);
    expect_refused(with(key, Json{{"type", "linear"}}), StatusCode::kUnsupported, key);
    expect_refused(with(key, 3), StatusCode::kInvalidArgument, key);
  }
  expect_refused(with("rope_parameters", Json{{"partial_rotary_factor", 0.25}}),
                 StatusCode::kUnsupported, "partial_rotary_factor");
  expect_refused(with("rope_parameters", Json{{"full_attention", Json{{"rope_theta", 1e6}}}}),
                 StatusCode::kUnsupported, "rope_parameters.full_attention");
}

TEST(ConfigRefusal, TwoRopeThetasThatDisagree) {
  expect_refused(with("rope_parameters", Json{{"rope_theta", 10000}}), StatusCode::kInvalidArgument,
                 "they must agree");
}

TEST(ConfigRefusal, LayerListsOfAnotherLengthOrWithOtherWords) {
  for (const char* key : {"layer_types", "mlp_layer_types"}) {
    expect_refused(with(key, Json::array({"full_attention"})), StatusCode::kInvalidArgument, key);
    expect_refused(with(key, "sliding_attention"), StatusCode::kInvalidArgument, key);
    for (Json word : {Json("linear_attention"), Json(7), Json(nullptr), Json("\xff")})
      expect_refused(with(key, Json::array_t(49, word)), StatusCode::kUnsupported, key);
  }
}

TEST(ConfigRefusal, NumbersThatMakeNoModel) {
  for (const char* key : {"vocab_size", "hidden_size", "num_attention_heads", "num_key_value_heads",
                          "head_dim", "intermediate_size", "prefix_dense_intermediate_size",
                          "num_experts", "num_experts_per_tok", "max_position_embeddings"}) {
    for (int64_t value : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
                          std::numeric_limits<int64_t>::max(), int64_t{1} << 32}) {
      expect_refused(with(key, value), StatusCode::kInvalidArgument, key);
    }
  }
  for (const char* key : {"first_k_dense_replace", "num_shared_experts"})
    expect_refused(with(key, -1), StatusCode::kInvalidArgument, key);
  expect_refused(with("num_attention_heads", 30), StatusCode::kInvalidArgument, "multiple");
  expect_refused(with("head_dim", 127), StatusCode::kInvalidArgument, "even");
  expect_refused(with("num_experts_per_tok", 129), StatusCode::kInvalidArgument, "exceeds");
}

TEST(ConfigRefusal, Windows) {
  for (int64_t window : {int64_t{0}, int64_t{-5}, int64_t{1} << 40})
    expect_refused(with("sliding_window", window), StatusCode::kInvalidArgument, "sliding_window");
  Json c = north_config();
  c.erase("layer_types");
  for (const char* key : {"sliding_window_pattern", "prefix_dense_sliding_window_pattern"}) {
    c[key] = 0;
    EXPECT_FALSE(description_from_config(c).ok()) << key;
    c[key] = 1;
  }
}

TEST(ConfigRefusal, FloatsOutsideTheirRange) {
  double nan = std::numeric_limits<double>::quiet_NaN(),
         infinity = std::numeric_limits<double>::infinity();
  for (double value : {nan, infinity, -infinity, -1.0}) {
    expect_refused(with("rope_theta", value), StatusCode::kInvalidArgument, "rope_theta");
    expect_refused(with("rms_norm_eps", value), StatusCode::kInvalidArgument, "epsilon");
  }
  for (double value : {nan, infinity, -infinity, 0.0, 1e300})
    expect_refused(with("logit_scale", value), StatusCode::kInvalidArgument, "logit_scale");
}

TEST(ConfigRefusal, TokensOutsideTheVocabulary) {
  for (const char* key : {"eos_token_id", "bos_token_id", "pad_token_id"}) {
    for (Json value : {Json(262144), Json(-1), Json(uint64_t{1} << 63), Json("</s>"), Json(2.5),
                       Json(Json::array({"a"})), Json(Json::object())}) {
      expect_refused(with(key, value), StatusCode::kInvalidArgument, key);
    }
  }
  ModelDescription m = north();
  expect_refused(add_generation_config(Json{{"eos_token_id", 262144}}, &m),
                 StatusCode::kInvalidArgument, "generation_config.json");
  EXPECT_FALSE(add_generation_config(Json{{"eos_token_id", -7}}, &m).ok());
  EXPECT_FALSE(add_generation_config(Json::array(), &m).ok());
}

// Whatever type stands in whatever key: an answer, and when it is no, a sentence.
TEST(ConfigRefusal, AnyTypeInAnyKey) {
  const Json north = north_config();
  for (const auto& [key, original] : north.items()) {
    for (Json value : {Json(nullptr), Json(true), Json(-1), Json(1e308), Json(""), Json::array(),
                       Json::object(), Json(Json::array({nullptr, Json::array()})),
                       Json(std::numeric_limits<uint64_t>::max())}) {
      Status s = with(key.c_str(), value);
      EXPECT_TRUE(s.ok() || s.message().size() > 20) << key << ": " << s.message();
    }
  }
}

TEST(ConfigRefusal, WhatIsNoObject) {
  for (Json c : {Json(nullptr), Json::array(), Json(3), Json("cohere2_moe"), Json::object()})
    EXPECT_FALSE(description_from_config(c).ok());
  EXPECT_FALSE(description_from_config(Json{{"text_config", 3}}).ok());
}

}  // namespace
}  // namespace nmc
