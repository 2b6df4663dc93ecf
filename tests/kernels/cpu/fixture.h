// A golden model, and CPU executors over it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "kernels/cpu/executor.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/require.h"
#include "tests/support/sequence.h"

namespace nmc::test {

class CpuFixture : public testing::TestWithParam<GoldenModel> {
 protected:
  CpuFixture() : file_(convert_to_model(GetParam().checkpoint)), prompts_(GetParam().prompts()) {}

  const ModelDescription& model() const { return file_->model(); }

  // With room for `sequences` sequences of up to `tokens` tokens; everything is poisoned.
  std::unique_ptr<Executor> executor(int64_t tokens, cpu::CpuOptions options = {},
                                     int64_t sequences = 1) const {
    options.poison = true;
    return require(
        cpu::create_cpu_executor(file_, capacity_for(model(), tokens, sequences), options));
  }

  // The logits of every position, in calls of `chunk` tokens.
  std::vector<float> run(Executor* executor, std::span<const int32_t> ids, size_t chunk) const {
    TestSequence sequence(model(), static_cast<int64_t>(ids.size()));
    std::vector<float> logits;
    for (size_t at = 0; at < ids.size(); at += chunk) {
      const std::vector<float> some = sequence.run(
          executor, ids.subspan(at, std::min(chunk, ids.size() - at)), LogitsWanted::kAll);
      logits.insert(logits.end(), some.begin(), some.end());
    }
    return logits;
  }

  std::shared_ptr<const ModelFile> file_;
  std::vector<GoldenPrompt> prompts_;
};

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline std::string model_name(const testing::TestParamInfo<GoldenModel>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

}  // namespace nmc::test
