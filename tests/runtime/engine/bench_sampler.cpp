// Time of one draw from a row of 262,144 logits, by kind of sampling. One thread.
//   build/tests/bench_sampler
#include <chrono>
#include <cstdio>
#include <random>

#include "runtime/engine/sampler.h"

namespace {

using nmc::SamplingParams;

// A text's next token: a bell of logits, and a few tokens that stand out.
std::vector<float> row(uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> bell(0, 2.5);
  std::vector<float> logits(262'144);
  for (float& l : logits) l = bell(random);
  for (int i = 0; i < 30; ++i) {
    logits[random() % logits.size()] = 14 + 0.3f * static_cast<float>(i);
  }
  return logits;
}

template <typename Work>
void measure(const char* name, const Work& work) {
  constexpr int kTimes = 50;
  double best = 1e9;
  for (int i = 0; i < kTimes; ++i) {
    auto begin = std::chrono::steady_clock::now();
    work(i);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count());
  }
  std::printf("%-24s %7.3f ms\n", name, best);
}

}  // namespace

int main() {
  const std::vector<float> logits = row(1);
  auto draw = [&](const char* name, const SamplingParams& params) {
    measure(name, [&](int i) { nmc::sample_token(logits, params, 7, static_cast<uint64_t>(i)); });
  };
  draw("greedy", {.temperature = 0});
  draw("temperature 1", {});
  draw("top_p 0.95", {.top_p = 0.95});
  draw("top_p 0.999", {.top_p = 0.999});
  draw("top_p 0.95, T 3", {.temperature = 3, .top_p = 0.95});
  draw("top_k 40", {.top_k = 40});
  draw("top_k 40, top_p 0.95", {.top_k = 40, .top_p = 0.95});
  draw("min_p 0.05", {.min_p = 0.05});
  measure("logprobs of 20", [&](int) { nmc::with_logprobs(logits, 3, 20); });
}
