// Engines over the CPU executor and a small real model.
#pragma once

#include "kernels/cpu/executor.h"
#include "runtime/engine/engine.h"
#include "tests/runtime/engine/fixture.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/require.h"

namespace nmc::test {

class EngineOnCpu : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    file_ = convert_to_model(golden_model("cohere2moe-nano").checkpoint);
  }
  static void TearDownTestSuite() { file_ = nullptr; }

  // Every page starts as NaN: whoever reads what was never written fails.
  static std::unique_ptr<Engine> engine_in(KvCapacity capacity, EngineOptions options,
                                           size_t threads = 1) {
    options.check_invariants = true;
    auto executor =
        require(cpu::create_cpu_executor(file_, capacity, {.threads = threads, .poison = true}));
    return require(Engine::create(std::move(executor), std::move(options)));
  }
  static std::unique_ptr<Engine> engine(const EngineOptions& options, size_t threads = 1) {
    return engine_in(kv_capacity_for(file_->model(), options), options, threads);
  }

  // A prompt of `size` tokens; those of one `text` begin alike.
  static std::vector<int32_t> prompt(uint32_t text, size_t size) {
    std::vector<int32_t> tokens;
    for (size_t i = 0; i < size; ++i) {
      tokens.push_back(static_cast<int32_t>(3 + (text * 131 + i * i * 7 + i) % 500));
    }
    return tokens;
  }

  // Request `i` of a mix: lengths, prefixes, and every kind of sampling.
  static GenerationRequest mixed(uint32_t i) {
    GenerationRequest r{
        .prompt = prompt(i % 5, 1 + i * 29 % 140), .max_tokens = 4 + i * 7 % 20, .top_logprobs = 2};
    r.ignore_eos = i % 2 == 0;
    SamplingParams& s = r.sampling;
    s.seed = i;
    s.temperature = i % 4 == 0 ? 0 : 0.5 + 0.2 * (i % 6);
    if (i % 3 == 0) s.top_p = 0.9;
    if (i % 5 == 0) s.top_k = 20;
    if (i % 7 == 0) s.min_p = 0.02;
    if (i % 6 == 0) s.frequency_penalty = 0.5;
    if (i % 8 == 0) s.repetition_penalty = 1.2;
    if (i % 9 == 0) s.logit_bias = {{7, 5.0}, {9, -100}};
    return r;
  }

  // Tokens and log-probabilities: equal only when every bit of the logits was.
  using Answer = std::vector<std::pair<int32_t, float>>;
  static Answer answer(Generation& g) {
    Answer out;
    while (!g.finished()) {
      if (auto t = g.next(std::chrono::milliseconds(1000))) out.emplace_back(t->token, t->logprob);
    }
    EXPECT_NE(g.reason(), FinishReason::kError) << g.status().message();
    return out;
  }

  // What each request says alone, nothing cached.
  static std::vector<Answer> alone(const std::vector<GenerationRequest>& requests,
                                   int64_t context = 0) {
    auto one = engine({.context = context, .parallel = 1, .prefix_cache = false});
    std::vector<Answer> out;
    for (const GenerationRequest& r : requests) out.push_back(answer(*require(one->submit(r))));
    return out;
  }

  static inline std::shared_ptr<const ModelFile> file_;
};

}  // namespace nmc::test
