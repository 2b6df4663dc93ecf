// Weights made on the device, and models whose sizes fill the large tiles.
#include <fstream>

#include "convert/convert.h"
#include "kernels/cuda/weights.h"
#include "kernels/reference/executor.h"
#include "runtime/base/json.h"
#include "runtime/base/random_tokens.h"
#include "tests/kernels/cuda/fixture.h"
#include "tests/support/bf16.h"
#include "tests/support/compare.h"

namespace nmc::test {
namespace {

// A scaled-down North: every kind of layer, heads of 128, products of several tiles.
Json middle_config() {
  return Json::parse(R"({
    "model_type": "cohere2_moe", "vocab_size": 700, "hidden_size": 320, "num_attention_heads": 16,
    "num_key_value_heads": 2, "head_dim": 128, "num_hidden_layers": 5, "first_k_dense_replace": 1,
    "prefix_dense_intermediate_size": 600, "intermediate_size": 136, "num_experts": 16,
    "num_experts_per_tok": 4, "expert_selection_fn": "sigmoid", "norm_topk_prob": false,
    "num_shared_experts": 0, "logit_scale": 1.0, "sliding_window": 600, "rms_norm_eps": 1e-6,
    "rope_theta": 50000, "max_position_embeddings": 4096, "use_parallel_block": true})");
}

std::shared_ptr<const ModelFile> make_synthetic(const std::filesystem::path& config) {
  TemporaryFolder folder;
  OutputOptions options;
  options.out = folder / "model.nmc";
  require(convert_synthetic(config, source_dir() / "models/cohere2moe-nano", options));
  return std::make_shared<const ModelFile>(require(ModelFile::open(options.out)));
}

std::shared_ptr<const ModelFile> make_synthetic(const Json& config) {
  TemporaryFolder folder;
  std::ofstream(folder / "config.json") << config.dump();
  return make_synthetic(folder / "config.json");
}

void expect_equal_bytes(const cuda::DeviceWeights& weights, const ModelFile& file) {
  const uint8_t* source = file.bytes(file.header().tensors.front()).data();
  std::vector<uint8_t> got(weights.bytes());
  ASSERT_EQ(cudaMemcpy(got.data(), weights.data(), got.size(), cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (const cuda::DeviceTensor& t : weights.tensors()) {
    size_t wrong = 0;
    for (size_t i = 0; i < t.spec.bytes(); ++i) wrong += got[t.offset + i] != source[t.offset + i];
    EXPECT_EQ(wrong, 0u) << t.spec.name << ": " << wrong << " of " << t.spec.bytes() << " bytes";
  }
  EXPECT_EQ(std::memcmp(got.data(), source, got.size()), 0) << "between tensors";
}

TEST(DeviceWeights, AreTheBytesOfTheFile) {
  auto file = convert_to_model(golden_model("cohere2moe-tiny").checkpoint);
  expect_equal_bytes(require(cuda::DeviceWeights::load(*file)), *file);
}

TEST(DeviceWeights, MadeOnTheDeviceAreThoseOfConvert) {
  for (const GoldenModel& golden : golden_models()) {
    SCOPED_TRACE(golden.name);
    auto file = make_synthetic(golden.checkpoint / "config.json");
    expect_equal_bytes(require(cuda::DeviceWeights::synthesize(file->model())), *file);
  }
}

class CudaMiddle : public testing::Test {
 protected:
  CudaMiddle() : file_(make_synthetic(middle_config())) {}
  const ModelDescription& model() const { return file_->model(); }

  std::shared_ptr<const ModelFile> file_;
};

// Contexts around pages, spans and the window, each as one call.
TEST_F(CudaMiddle, LogitsAreThoseOfTheReference) {
  constexpr size_t kTokens = 1100;
  const double tolerance = bf16_tolerance(model(), 8);
  const std::vector<int32_t> ids = random_tokens(kTokens, model().vocab, 7);
  auto reference = reference::create_reference_executor(file_, capacity_for(model(), kTokens));
  const std::vector<float> all = run_in_chunks(reference.get(), ids, kTokens);
  auto cuda = cuda_executor(file_, kTokens);
  const auto vocab = static_cast<size_t>(model().vocab);
  for (size_t count : {1, 63, 64, 65, 129, 511, 512, 513, 599, 600, 601, 1100}) {
    const std::vector<float> last =
        TestSequence(model(), kTokens)
            .run(cuda.get(), std::span(ids).first(count), LogitsWanted::kLast);
    const std::span<const float> expected = std::span(all).subspan((count - 1) * vocab, vocab);
    const Deviation deviation = compare_rows<float>(last, expected, model().vocab, tolerance);
    EXPECT_TRUE(deviation.ok()) << count << " tokens: " << deviation;
    std::cout << count << " tokens: " << deviation << "\n";
  }
}

// Every shape of the matrix product, walked and split attention: the same bits.
TEST_F(CudaMiddle, AnyChunks) {
  const std::vector<int32_t> ids = random_tokens(1300, model().vocab, 8);
  auto cuda = cuda_executor(file_, 1300);
  const std::vector<float> all = run_in_chunks(cuda.get(), ids, ids.size());
  for (size_t chunk : {1, 2, 4, 7, 20, 50, 64, 100, 333}) {
    EXPECT_EQ(first_difference(run_in_chunks(cuda.get(), ids, chunk), all, model().vocab), -1)
        << "chunks of " << chunk;
  }
}

// 1 to 64 sequences of different lengths, one token of each at a time.
TEST_F(CudaMiddle, AnyBatch) {
  constexpr size_t kSequences = 64;
  constexpr int64_t kTokens = 700;
  auto cuda = cuda_executor(file_, kTokens, kSequences);
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<float>> alone;
  for (size_t i = 0; i < kSequences; ++i) {
    ids.push_back(random_tokens(static_cast<int64_t>(1 + i * 611 % 690), model().vocab, 100 + i));
    TestSequence sequence(model(), kTokens, static_cast<int64_t>(i), kSequences);
    alone.push_back(sequence.run(cuda.get(), ids[i], LogitsWanted::kLast));
  }
  for (size_t batch : {2, 3, 8, 9, 31, 33, 64}) {
    std::vector<TestSequence> sequences;
    std::vector<SequenceStep> steps;
    std::vector<float> logits;
    for (size_t i = 0; i < batch; ++i) {
      sequences.emplace_back(model(), kTokens, static_cast<int64_t>(i), kSequences);
    }
    for (size_t i = 0; i < batch; ++i) {  // all but the last token
      if (ids[i].size() > 1) {
        steps.push_back(
            sequences[i].step(std::span(ids[i]).first(ids[i].size() - 1), LogitsWanted::kNone));
      }
    }
    require(cuda->forward(steps, &logits));
    steps.clear();
    for (size_t i = 0; i < batch; ++i) {
      steps.push_back(sequences[i].step(std::span(ids[i]).last(1), LogitsWanted::kLast));
    }
    require(cuda->forward(steps, &logits));
    const auto vocab = static_cast<size_t>(model().vocab);
    for (size_t i = 0; i < batch; ++i) {
      EXPECT_EQ(
          first_difference(std::span(logits).subspan(i * vocab, vocab), alone[i], model().vocab),
          -1)
          << "sequence " << i << " of " << batch;
    }
  }
}

}  // namespace
}  // namespace nmc::test
