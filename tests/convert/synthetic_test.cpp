// The formula for weights (docs/conversion.md, "Synthetic weights"), written down again from the
// page, and what it is made for: routings that are not near ties.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "convert/convert.h"
#include "kernels/reference/executor.h"
#include "runtime/base/hash.h"
#include "runtime/format/synthetic_rule.h"
#include "runtime/model/config.h"
#include "tests/convert/test_checkpoint.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

class SyntheticTest : public TempFolder {
 protected:
  std::shared_ptr<const ModelFile> make(const Json& config, size_t threads = 2) {
    write_text(folder_ / "config.json", config.dump());
    auto out = folder_ / "synthetic.nmc";
    auto converted = convert_synthetic(folder_ / "config.json", folder_,
                                       {.out = out, .replace = true, .threads = threads});
    EXPECT_TRUE(converted.ok()) << converted.status().message();
    auto file = ModelFile::open(out);
    EXPECT_TRUE(file.ok());
    return std::make_shared<const ModelFile>(std::move(*file));
  }
};

double unit(const std::string& name, uint64_t index) {
  uint64_t h = splitmix64(xxh3_64(name.data(), name.size()) + index * 0x9E3779B97F4A7C15u);
  return 2 * (static_cast<double>(h >> 40) / 16777216.0) - 1;
}

TEST(SyntheticRule, SplitmixIsTheKnownGenerator) {
  // The first outputs from state 0 of the published generator.
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(splitmix64(0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4u);
}

TEST(SyntheticRule, PlainAndNormWeightsFollowThePage) {
  ModelDescription model = *description_from_config(small_config());
  SyntheticRule rule(model);
  std::vector<Bf16> row(72);
  auto fill = [&](const std::string& name, uint64_t r) {
    rule.fill_row(rule.tensor(name, 72), r, row);
  };

  std::string q = "model.layers.1.self_attn.q_proj.weight";
  fill(q, 3);
  auto scale = static_cast<float>(std::sqrt(3.0 / 72));
  EXPECT_EQ(row[5], float_to_bf16(scale * static_cast<float>(unit(q, 3 * 72 + 5))));

  std::string norm = "model.layers.0.input_layernorm.weight";
  fill(norm, 0);
  EXPECT_EQ(row[71], float_to_bf16(static_cast<float>(1 + unit(norm, 71) / 8)));
  fill("model.norm.weight", 0);
  auto negative = std::count_if(row.begin(), row.end(), [](Bf16 v) { return v >> 15; });
  EXPECT_THAT(negative, ::testing::AllOf(::testing::Gt(20), ::testing::Lt(52)));
}

TEST(SyntheticRule, RouterAndEmbeddingFollowThePage) {
  ModelDescription model = *description_from_config(small_config());
  SyntheticRule rule(model);
  std::vector<Bf16> row(72);
  auto walsh = [](int64_t j, int64_t k) {
    return std::popcount(static_cast<uint64_t>(j & k)) % 2 ? -1.0 : 1.0;
  };

  std::string gate = "model.layers.1.mlp.gate.weight";
  rule.fill_row(rule.tensor(gate, 72), 2, row);
  // Of 3 experts, layer 1: step 3 shares a factor with 3, so 5; (5 * 2 + 7) % 3 = 2.
  EXPECT_EQ(rule.direction_of(1, 2), 2);
  auto gain = static_cast<float>(3 * std::sqrt(2.0) / 72);  // 0.0589; noise 1/128
  float expected =
      gain * static_cast<float>(walsh(3, 40)) + static_cast<float>(unit(gate, 2 * 72 + 40) / 128);
  EXPECT_EQ(row[40], float_to_bf16(expected));

  std::string embed = "model.embed_tokens.weight";
  rule.fill_row(rule.tensor(embed, 72), 9, row);
  auto d = rule.directions(9);
  ASSERT_EQ(d.size(), 2u);
  EXPECT_NE(d[0], d[1]);
  // size = 6 / (0.0625 sqrt(72)) = 11.3; step: below 11.3 / (4 sqrt(4)) = 1.41, so 1;
  // noise = 4 * 1 * 2, as sqrt(6) = 2.45.
  double sum = 3 * walsh(1 + d[0], 17) + 4 * walsh(1 + d[1], 17);
  EXPECT_EQ(row[17], float_to_bf16(static_cast<float>(sum + 8 * unit(embed, 9 * 72 + 17))));
}

TEST(SyntheticRule, EveryLayerPermutesTheDirections) {
  ModelDescription model = *description_from_config(small_config());
  for (int64_t experts : {1, 8, 12, 15, 128}) {
    model.experts = experts;
    SyntheticRule rule(model);
    for (int64_t layer : {0, 1, 2, 7, 48}) {
      std::set<int64_t> seen;
      for (int64_t e = 0; e < experts; ++e) seen.insert(rule.direction_of(layer, e));
      EXPECT_EQ(static_cast<int64_t>(seen.size()), experts);
      EXPECT_LT(*seen.rbegin(), experts);
    }
  }
}

TEST_F(SyntheticTest, TheFileIsThatOfACheckpointFilledByTheRule) {
  ModelDescription model = *description_from_config(small_config());
  SyntheticRule rule(model);
  TestTensors tensors = small_tensors();
  for (auto& [name, t] : tensors) {
    uint64_t cols = t.shape.back();
    std::vector<Bf16> row(cols);
    for (uint64_t r = 0; r < t.bytes.size() / 2 / cols; ++r) {
      rule.fill_row(rule.tensor(name, cols), r, row);
      t.bytes.replace(r * cols * 2, cols * 2, reinterpret_cast<const char*>(row.data()), cols * 2);
    }
  }
  auto folder = write_checkpoint(folder_ / "filled", small_config(), tensors);
  EXPECT_EQ(weights_of(*make(small_config())), weights_of(convert_ok(folder)));
}

// A tensor of many pieces: its checksum passes from thread to thread.
TEST_F(SyntheticTest, ManyPiecesOnManyThreads) {
  Json config = small_config();
  config["vocab_size"] = 60'000;  // 15 MB with padding, in pieces of 2 MiB
  std::string expected = weights_of(*make(config, 1));
  auto file = make(config, 128);
  EXPECT_EQ(weights_of(*file), expected);
  for (const TensorEntry& t : file->header().tensors) EXPECT_TRUE(file->check(t).ok()) << t.name;
}

// A scaled-down North: the gap between the last chosen and the first other router logit.
TEST_F(SyntheticTest, RoutingsAreFarFromTies) {
  Json config = Json::parse(R"({
    "model_type": "cohere2_moe", "vocab_size": 512, "hidden_size": 256, "num_attention_heads": 8,
    "num_key_value_heads": 2, "head_dim": 64, "num_hidden_layers": 6, "first_k_dense_replace": 1,
    "prefix_dense_intermediate_size": 512, "intermediate_size": 64, "num_experts": 16,
    "num_experts_per_tok": 4, "expert_selection_fn": "sigmoid", "norm_topk_prob": false,
    "logit_scale": 1.0, "sliding_window": 16, "rms_norm_eps": 1e-6,
    "max_position_embeddings": 512})");
  auto file = make(config);
  std::vector<double> margins, counts(6 * 16);
  double first = 0, last = 0;  // squared size of the stream at its two ends
  auto squared = [](const reference::Rows& rows) {
    double sum = 0;
    for (double v : rows.values()) sum += v * v;
    return sum;
  };
  reference::ReferenceOptions options;
  options.tap = [&](std::string_view name, int64_t layer, const reference::Rows& rows) {
    if (name == "embedding") first = squared(rows);
    if (name == "residual") last = squared(rows);
    if (name != "router_logits") return;
    for (int64_t t = 0; t < rows.rows(); ++t) {
      std::vector<std::pair<double, size_t>> sorted;
      for (size_t e = 0; e < 16; ++e) sorted.emplace_back(rows.row(t)[e], e);
      std::sort(sorted.rbegin(), sorted.rend());
      margins.push_back(sorted[3].first - sorted[4].first);
      for (size_t i = 0; i < 4; ++i) ++counts[static_cast<size_t>(layer) * 16 + sorted[i].second];
    }
  };
  auto executor = reference::create_reference_executor(file, {2, 2}, options);
  std::vector<int32_t> tokens, pages{0, 1};
  for (int32_t i = 0; i < 96; ++i) tokens.push_back(i * 37 % 512);
  SequenceStep step{.tokens = tokens, .global_pages = pages, .sliding_pages = pages};
  std::vector<float> logits;
  ASSERT_TRUE(executor->forward({&step, 1}, &logits).ok());

  std::sort(margins.begin(), margins.end());
  double least = margins.front(), median = margins[margins.size() / 2];
  RecordProperty("least_margin", std::to_string(least));
  RecordProperty("median_margin", std::to_string(median));
  std::printf("margins: least %.3f, 1%% %.3f, median %.3f; stream grows to %.2f of its size\n",
              least, margins[margins.size() / 100], median, std::sqrt(last / first));
  // BF16 moves a logit of size 2 to 4 by about 0.01; experts flip below a margin of about 0.02.
  EXPECT_GT(least, 0.1);
  EXPECT_GT(median, 0.5);
  // The blocks count for something without drowning the embedding.
  EXPECT_GT(last / first, 1.02);
  EXPECT_LT(last / first, 2.5);
  for (size_t i = 16; i < counts.size(); ++i) {  // 96 tokens x 4 of 16 experts: 24 each
    EXPECT_GT(counts[i], 8) << i;
    EXPECT_LT(counts[i], 48) << i;
  }
}

}  // namespace
}  // namespace nmc
