// The reference executor against the float32 values of the Hugging Face implementation.
#include <map>

#include "tests/kernels/reference/golden_fixture.h"

namespace nmc::test {
namespace {

using reference::Rows;

class Golden : public GoldenFixture {
 protected:
  // What the operations of a pass over `ids` return, by "operation/layer".
  std::map<std::string, Rows> record(const std::vector<int32_t>& ids) const {
    std::map<std::string, Rows> seen;
    reference::ReferenceOptions options;
    options.tap = [&](std::string_view operation, int64_t layer, const Rows& values) {
      seen[std::string(operation) + "/" + std::to_string(layer)] = values;
    };
    const auto tokens = static_cast<int64_t>(ids.size());
    TestSequence sequence(model(), tokens);
    sequence.run(executor(tokens, options).get(), ids, LogitsWanted::kAll);
    return seen;
  }

  std::vector<int64_t> sparse_layers() const {
    std::vector<int64_t> layers;
    for (size_t i = 0; i < model().layers.size(); ++i) {
      if (model().layers[i].sparse) layers.push_back(static_cast<int64_t>(i));
    }
    return layers;
  }
};

TEST(GoldenModels, AreAllHere) {
  std::vector<std::string> names;
  for (const GoldenModel& model : golden_models()) names.push_back(model.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cohere2moe-nano", "cohere2moe-tiny",
                                             "variant-command-a-plus", "variant-dense-inside",
                                             "variant-layernorm-shared", "variant-north",
                                             "variant-odd-sizes", "variant-softmax-untied"}));
}

TEST_P(Golden, PromptsAreLongerThanTheWindow) {
  for (const GoldenPrompt& prompt : prompts_) {
    EXPECT_GT(static_cast<int64_t>(prompt.ids.size()), make_kv_layout(model()).window);
  }
}

TEST_P(Golden, LogitsOfEveryPosition) {
  int64_t longest = 0;
  for (const GoldenPrompt& p : prompts_) {
    longest = std::max(longest, static_cast<int64_t>(p.ids.size()));
  }
  expect_close(logits_deviation(file_, prompts_, float32_tolerance(model(), longest)), "logits");
}

TEST_P(Golden, GreedyTokensStepByStep) {
  for (const GoldenPrompt& prompt : prompts_) {
    const auto count = static_cast<int64_t>(prompt.greedy.size());
    const int64_t tokens = static_cast<int64_t>(prompt.ids.size()) + count;
    const Greedy greedy = generate_greedily(executor(tokens).get(), prompt.ids, count);
    EXPECT_EQ(greedy.tokens, prompt.greedy);
    expect_close(compare_rows<float>(greedy.logits, prompt.greedy_logits.values, model().vocab,
                                     float32_tolerance(model(), tokens)),
                 "greedy logits");
  }
}

TEST_P(Golden, GreedyTokensInOnePass) {
  for (const GoldenPrompt& prompt : prompts_) {
    std::vector<int32_t> ids = prompt.ids;
    ids.insert(ids.end(), prompt.greedy.begin(), prompt.greedy.end() - 1);
    const auto tokens = static_cast<int64_t>(ids.size());
    TestSequence sequence(model(), tokens);
    const std::vector<float> logits = sequence.run(executor(tokens).get(), ids, LogitsWanted::kAll);
    const auto skipped = (prompt.ids.size() - 1) * static_cast<size_t>(model().vocab);
    expect_close(
        compare_rows<float>(std::span(logits).subspan(skipped), prompt.greedy_logits.values,
                            model().vocab, float32_tolerance(model(), tokens)),
        "greedy logits");
  }
}

TEST_P(Golden, ExpertsOfEveryToken) {
  const std::vector<int64_t> layers = sparse_layers();
  for (const GoldenPrompt& prompt : prompts_) {
    const auto seen = record(prompt.ids);
    const auto tokens = static_cast<int64_t>(prompt.ids.size());
    ASSERT_EQ(prompt.experts.rows(), static_cast<int64_t>(layers.size()) * tokens);
    for (int64_t row = 0; row < prompt.experts.rows(); ++row) {
      const int64_t layer = layers[static_cast<size_t>(row / tokens)];
      std::span<const double> got = seen.at("experts/" + std::to_string(layer)).row(row % tokens);
      std::span<const int32_t> expected = prompt.experts.row(row);
      EXPECT_TRUE(std::ranges::equal(got, expected)) << "layer " << layer << ", row " << row;
    }
  }
}

TEST_P(Golden, EveryLayerOfTheFirstPrompt) {
  const std::vector<int32_t>& ids = prompts_.at(0).ids;
  const TensorFile debug = GetParam().debug();
  const auto seen = record(ids);
  const double tolerance = float32_tolerance(model(), static_cast<int64_t>(ids.size()));
  auto expect = [&](const std::string& operation, int64_t layer, const std::string& golden) {
    const Tensor<float> expected = debug.f32("prompt0." + golden + "_fp32");
    expect_close(compare_rows<double>(seen.at(operation + "/" + std::to_string(layer)).values(),
                                      expected.values, expected.width(), tolerance),
                 golden);
  };
  expect("embedding", -1, "embed");
  for (size_t i = 0; i < model().layers.size(); ++i) {
    expect("residual", static_cast<int64_t>(i), "residual_after_layer" + std::to_string(i));
  }
  for (int64_t layer : sparse_layers()) {
    expect("router_logits", layer, "router_logits_layer" + std::to_string(layer));
  }
}

// Nothing above means much if float32 could have chosen other experts, or other tokens.
TEST_P(Golden, ExpectedValuesAreFarFromTies) {
  for (const GoldenPrompt& prompt : prompts_) {
    const auto tokens = static_cast<int64_t>(prompt.ids.size() + prompt.greedy.size());
    const double tolerance = float32_tolerance(model(), tokens);
    for (float margin : prompt.margin.values) EXPECT_GT(margin, 10 * tolerance);
    for (int64_t i = 0; i < prompt.greedy_logits.rows(); ++i) {
      std::vector<float> row(prompt.greedy_logits.row(i).begin(),
                             prompt.greedy_logits.row(i).end());
      std::ranges::sort(row, std::greater<>());
      EXPECT_GT(row[0] - row[1], 2 * tolerance * std::abs(row[0]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Golden, testing::ValuesIn(golden_models()), test_name);

}  // namespace
}  // namespace nmc::test
