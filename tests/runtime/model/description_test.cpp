// Parameter counts, and the description's own JSON form.
#include "runtime/model/description.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/model/config.h"
#include "tests/runtime/model/north_config.h"

namespace nmc {
namespace {

TEST(Description, ParametersOfNorth) {
  EXPECT_EQ(north().parameters(), 30'484'303'872u);
  EXPECT_EQ(north().active_parameters(), 3'305'213'952u);
}

TEST(Description, AnUntiedHeadCountsAndAnEmbeddingReadsOneRow) {
  ModelDescription m = north();
  uint64_t total = m.parameters(), active = m.active_parameters();
  m.tied_head = false;
  EXPECT_EQ(m.parameters(), total + 536'870'912u);
  EXPECT_EQ(m.active_parameters(), active + 2048);
}

TEST(Description, SharedExpertsAreAlwaysActive) {
  ModelDescription m = north();
  uint64_t total = m.parameters(), active = m.active_parameters();
  m.shared_experts = 2;
  uint64_t shared = 48u * 3 * 2048 * 2 * 768;
  EXPECT_EQ(m.parameters(), total + shared);
  EXPECT_EQ(m.active_parameters(), active + shared);
}

TEST(Description, JsonKeepsEveryField) {
  ModelDescription m = north();
  m.shared_experts = 3;
  m.shared_combine = SharedCombine::kSum;
  m.norm = NormKind::kLayer;
  m.norm_eps = 0.1;  // no double is 0.1: the text must bring back the same one
  m.rope_theta = 12345.678901234567;
  m.logit_scale = 1.0 / 3;
  m.tied_head = false;
  m.bos_token = m.pad_token = -1;
  m.eos_tokens = {9, 8, 7};
  m.layers[5] = {false, true, 17};
  for (const ModelDescription& d : {north(), m}) {
    auto json = parse_json(dump_json(description_to_json(d)), "header");
    ASSERT_TRUE(json.ok());
    auto back = description_from_json(*json, "header");
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(*back, d);
  }
}

TEST(Description, ErrorsNameTheFieldsOfTheFormTheyStandIn) {
  ModelDescription m = north();
  m.kv_heads = 5;
  auto message = [&](FieldNames names) { return check_description(m, "x", names).message(); };
  EXPECT_EQ(message(FieldNames::kHeader), "x: heads (32) must be a multiple of kv_heads (5)");
  EXPECT_EQ(message(FieldNames::kConfig),
            "x: num_attention_heads (32) must be a multiple of num_key_value_heads (5)");
  Json header = description_to_json(north());
  for (const auto& [key, original] : header.items()) {
    if (!original.is_number_integer() || key == "bos_token" || key == "pad_token") continue;
    Json wrong = header;
    wrong[key] = -7;
    const std::string sentence = description_from_json(wrong, "x").status().message();
    EXPECT_EQ(sentence.find("x: " + key + " is -7"), 0u) << sentence;
  }
}

TEST(Description, EveryFieldIsNeededAndTyped) {
  Json whole = description_to_json(north());
  for (const auto& [key, original] : whole.items()) {
    Json without = whole;
    without.erase(key);
    EXPECT_FALSE(description_from_json(without, "header").ok()) << key;
    for (Json value : {Json(nullptr), Json(Json::object()), Json("x"), Json(-7), Json(-7.5)}) {
      if (key == "logit_scale" && value.is_number()) continue;  // any finite number is one
      Json wrong = whole;
      wrong[key] = value;
      auto r = description_from_json(wrong, "header");
      EXPECT_FALSE(r.ok()) << key << " = " << value;
      EXPECT_EQ(r.status().message().find("header"), 0u) << r.status().message();
    }
  }
}

TEST(Description, HostileLists) {
  Json whole = description_to_json(north());
  for (Json layer : {Json(nullptr), Json(3), Json(Json::object()), Json(Json::array()),
                     Json{{"mlp", "both"}, {"rope", true}, {"window", 0}},
                     Json{{"mlp", "dense"}, {"rope", 1}, {"window", 0}},
                     Json{{"mlp", "dense"}, {"rope", true}, {"window", -1}},
                     Json{{"mlp", "dense"}, {"rope", true}, {"window", int64_t{1} << 40}}}) {
    Json wrong = whole;
    wrong["layers"][3] = layer;
    EXPECT_FALSE(description_from_json(wrong, "header").ok()) << layer;
  }
  Json none = whole;
  none["layers"] = Json::array();
  EXPECT_FALSE(description_from_json(none, "header").ok());
  Json many = whole;
  many["layers"] = Json::array_t(5000, whole["layers"][0]);
  EXPECT_FALSE(description_from_json(many, "header").ok());
  for (Json id : {Json(-1), Json(262144), Json(0.5), Json(std::numeric_limits<uint64_t>::max())}) {
    Json wrong = whole;
    wrong["eos_tokens"] = Json::array({id});
    EXPECT_FALSE(description_from_json(wrong, "header").ok()) << id;
    if (id == Json(-1)) continue;  // of bos and pad it says: none
    wrong = whole;
    wrong["bos_token"] = id;
    EXPECT_FALSE(description_from_json(wrong, "header").ok()) << id;
  }
  for (Json value : {Json(nullptr), Json::array(), Json("north"), Json(1)})
    EXPECT_FALSE(description_from_json(value, "header").ok());
}

TEST(Description, AnotherArchitectureIsNamed) {
  Json json = description_to_json(north());
  json["architecture"] = "qwen3_moe";
  auto r = description_from_json(json, "header");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(r.status().message().find("qwen3_moe"), std::string::npos);
}

}  // namespace
}  // namespace nmc
