// A device that says what a test wrote: after any prompt, the tokens of a script. With
// NMC_TEST_AHEAD=7 in the environment it chooses up to seven tokens in a row by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "runtime/engine/executor.h"
#include "tests/support/decode_by_forward.h"

namespace nmc::test {

// What the test may change while the engine runs.
struct ScriptControl {
  std::vector<int32_t> script;  // set before the first request; then its last token repeats
  std::atomic<int> step_ms{0};  // time of one call of forward
  std::atomic<bool> fail{false};
  // Not 0: random logits instead, the same at the same position behind the same token.
  std::atomic<uint32_t> noise{0};
};

class ScriptedExecutor : public Executor {
 public:
  ScriptedExecutor(ModelDescription model, KvCapacity capacity,
                   std::shared_ptr<ScriptControl> control)
      : model_(std::move(model)), capacity_(capacity), control_(std::move(control)) {}

  std::string name() const override { return "scripted"; }
  const ModelDescription& model() const override { return model_; }
  KvCapacity kv_capacity() const override { return capacity_; }
  int64_t most_steps() const override {
    const char* steps = std::getenv("NMC_TEST_AHEAD");
    return steps ? std::atoi(steps) : 0;
  }
  Status decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary,
                Decoded* out) override {
    return decode_by_forward(this, batch, steps, vocabulary, &decode_logits_, out);
  }

  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    if (control_->fail) return internal_error("the test pulled the plug");
    std::this_thread::sleep_for(std::chrono::milliseconds(control_->step_ms));
    logits->clear();
    for (const SequenceStep& step : batch) {
      auto end = step.first + static_cast<int64_t>(step.tokens.size());
      Reading r = take(step);
      if (r.end != step.first || r.in_prompt) r.prompt_end = end;
      r.end = end;
      r.in_prompt = step.logits == LogitsWanted::kNone;
      reading_[page_of(step, end - 1)] = r;
      if (r.in_prompt) continue;
      if (step.logits == LogitsWanted::kAll) append_guesses(step, logits);
      auto at = std::min(static_cast<size_t>(end - r.prompt_end), control_->script.size() - 1);
      size_t row = logits->size();
      logits->resize(row + static_cast<size_t>(model_.vocab), 0.0f);
      if (control_->noise == 0) {
        (*logits)[row + static_cast<size_t>(control_->script[at])] = 100.0f;
        continue;
      }
      std::mt19937 random(control_->noise + 7919u * static_cast<uint32_t>(end) +
                          static_cast<uint32_t>(step.tokens.back()));
      for (size_t i = row; i < logits->size(); ++i) {
        (*logits)[i] = static_cast<float>(random() % 4096) / 1024;
      }
    }
    return {};
  }

 private:
  // In front of its script the device expects each token to be followed by the next id.
  void append_guesses(const SequenceStep& step, std::vector<float>* logits) const {
    for (size_t i = 0; i + 1 < step.tokens.size(); ++i) {
      const size_t row = logits->size();
      logits->resize(row + static_cast<size_t>(model_.vocab), 0.0f);
      (*logits)[row + static_cast<size_t>((step.tokens[i] + 1) % model_.vocab)] = 100.0f;
    }
  }

  // A sequence is known by the page of its last position, the only one that it never shares.
  struct Reading {
    int64_t end = -1;  // positions read
    bool in_prompt = false;
    int64_t prompt_end = 0;  // where its script begins
    bool left = false;       // the sequence went on behind it, and may come back
  };

  static int32_t page_of(const SequenceStep& step, int64_t position) {
    return step.global_pages[static_cast<size_t>(position / 64)];
  }

  // What is known of the step's sequence; nothing at its first step.
  Reading take(const SequenceStep& step) {
    if (step.first == 0) return {};
    auto it = reading_.find(page_of(step, step.first - 1));
    if (it == reading_.end()) return {};
    Reading& known = it->second;
    const bool back = goes_back(known, step);
    if (!back && (known.left || known.end != step.first)) return {};
    Reading r = known;
    r.end = step.first;
    r.left = false;
    if (most_steps() == 0) {
      reading_.erase(it);
    } else {
      known.left = true;
    }
    return r;
  }

  // Of the tokens that it chose ahead some were dropped.
  bool goes_back(const Reading& r, const SequenceStep& step) const {
    return most_steps() > 0 && !r.in_prompt && step.tokens.size() == 1 && r.end >= step.first &&
           step.first >= r.prompt_end;
  }

  const ModelDescription model_;
  const KvCapacity capacity_;
  const std::shared_ptr<ScriptControl> control_;
  std::map<int32_t, Reading> reading_;
  std::vector<float> decode_logits_;
};

}  // namespace nmc::test
