// An executor without a model: it keeps token ids where keys and values would be and hashes what a
// query may see, so a wrong page, window or position changes the next token.
#pragma once

#include <cassert>
#include <chrono>
#include <thread>

#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"
#include "tests/support/decode_by_forward.h"

namespace nmc {

inline ModelDescription fake_model() {
  ModelDescription m;
  m.architecture = "cohere2_moe";
  m.vocab = 97;
  m.hidden = 8;
  m.heads = m.kv_heads = 1;
  m.head_dim = 2;
  m.dense_width = 8;
  m.max_context = 1000;
  m.eos_tokens = {96};
  m.layers = {{.rope = true}, {.rope = true, .window = 100}};
  return m;
}

class FakeExecutor : public Executor {
 public:
  explicit FakeExecutor(KvCapacity capacity, ModelDescription model = fake_model())
      : model_(std::move(model)),
        capacity_(capacity),
        global_(static_cast<size_t>(capacity.global_pages * kPageTokens), kPoison),
        sliding_(static_cast<size_t>(capacity.sliding_pages * kPageTokens), kPoison) {}

  std::string name() const override { return "fake"; }
  const ModelDescription& model() const override { return model_; }
  KvCapacity kv_capacity() const override { return capacity_; }

  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    if (fail_after-- == 0) return internal_error("the fake device failed");
    std::this_thread::sleep_for(delay);
    logits->clear();
    largest_batch = std::max(largest_batch, batch.size());
    for (const SequenceStep& step : batch) {
      for (size_t i = 0; i < step.tokens.size(); ++i) {
        int64_t position = step.first + static_cast<int64_t>(i);
        at(global_, step.global_pages, position) = step.tokens[i];
        at(sliding_, step.sliding_pages, position) = step.tokens[i];
        bool last = i + 1 == step.tokens.size();
        if (step.logits == LogitsWanted::kAll || (last && step.logits == LogitsWanted::kLast)) {
          append_logits(step, position, logits);
        }
      }
    }
    return {};
  }

  Status forward_with_pauses(std::span<const SequenceStep> batch, std::vector<float>* logits,
                             const Pauses& pauses) override {
    for (int i = 0; i < pauses_in_a_call; ++i) NMC_TRY(pauses.pause());
    NMC_TRY(forward(batch, logits));
    for (int i = 0; i < pauses_in_a_call; ++i) NMC_TRY(pauses.pause());
    return {};
  }
  int64_t most_steps() const override { return ahead; }
  Status decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary,
                Decoded* out) override {
    longest_burst = std::max(longest_burst, steps);
    return test::decode_by_forward(this, batch, steps, vocabulary, &decode_logits_, out);
  }

  int64_t ahead = 0;         // steps that it takes alone; 0: it does not choose tokens
  int pauses_in_a_call = 1;  // before the work, and after it
  int64_t longest_burst = 0;
  int64_t fail_after = -1;  // calls until the device fails; negative: never
  size_t largest_batch = 0;
  std::chrono::microseconds delay{0};  // of every call

 private:
  static constexpr int32_t kPoison = -77;

  static int32_t& at(std::vector<int32_t>& store, std::span<const int32_t> pages,
                     int64_t position) {
    int32_t page = pages[static_cast<size_t>(position / kPageTokens)];
    assert(page != kNoPage);
    return store[static_cast<size_t>(page * kPageTokens + position % kPageTokens)];
  }

  void append_logits(const SequenceStep& step, int64_t position, std::vector<float>* logits) {
    uint64_t hash = 1469598103934665603ull;
    auto mix = [&](int32_t token) {
      hash = (hash ^ static_cast<uint64_t>(token + 1000)) * 1099511628211ull;
    };
    for (int64_t p = 0; p <= position; ++p) mix(at(global_, step.global_pages, p));
    for (int64_t p = std::max<int64_t>(0, position - 99); p <= position; ++p) {
      mix(at(sliding_, step.sliding_pages, p));
    }
    for (int64_t v = 0; v < model_.vocab; ++v) {
      hash = hash * 6364136223846793005ull + 1442695040888963407ull;
      logits->push_back(static_cast<float>(hash >> 40) / (1 << 22));
    }
  }

  ModelDescription model_;
  KvCapacity capacity_;
  std::vector<int32_t> global_, sliding_;
  std::vector<float> decode_logits_;
};

}  // namespace nmc
