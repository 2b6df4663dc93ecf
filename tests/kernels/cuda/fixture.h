// Models for CUDA tests, and executors over them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iostream>

#include "kernels/cuda/executor.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/require.h"
#include "tests/support/sequence.h"

namespace nmc::test {

// With room for `sequences` sequences of up to `tokens` tokens; everything is poisoned.
inline std::unique_ptr<Executor> cuda_executor(const std::shared_ptr<const ModelFile>& file,
                                               int64_t tokens, int64_t sequences = 1,
                                               int64_t rows = 2048) {
  return require(cuda::create_cuda_executor(file, capacity_for(file->model(), tokens, sequences),
                                            {.rows = rows, .poison = true}));
}

// The logits of every position of one sequence, in calls of `chunk` tokens.
inline std::vector<float> run_in_chunks(Executor* executor, std::span<const int32_t> ids,
                                        size_t chunk) {
  TestSequence sequence(executor->model(), static_cast<int64_t>(ids.size()));
  std::vector<float> logits;
  for (size_t at = 0; at < ids.size(); at += chunk) {
    const std::vector<float> some = sequence.run(
        executor, ids.subspan(at, std::min(chunk, ids.size() - at)), LogitsWanted::kAll);
    logits.insert(logits.end(), some.begin(), some.end());
  }
  return logits;
}

// The first row that differs in a bit, or -1; says so on standard output.
inline int64_t first_difference(std::span<const float> a, std::span<const float> b, int64_t width) {
  if (a.size() != b.size()) {
    std::cout << "  " << a.size() << " values, not " << b.size() << "\n";
    return 0;
  }
  const auto n = static_cast<size_t>(width);
  size_t rows = 0;
  int64_t first = -1;
  for (size_t i = 0; i < a.size(); i += n) {
    if (std::memcmp(&a[i], &b[i], n * sizeof(float)) == 0) continue;
    if (rows++ > 0) continue;
    first = static_cast<int64_t>(i / n);
    for (size_t j = i; j < i + n; ++j) {
      if (a[j] == b[j]) continue;
      std::cout << "  row " << first << ", column " << j - i << ": " << a[j] << " and " << b[j]
                << "\n";
      break;
    }
  }
  if (rows > 0) std::cout << "  " << rows << " of " << a.size() / n << " rows differ\n";
  return first;
}

inline std::string model_name(const testing::TestParamInfo<GoldenModel>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

}  // namespace nmc::test
