// The inner loops of every instruction set of this processor against sums in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cpu/exp.h"
#include "kernels/cpu/instructions.h"
#include "kernels/cpu/matrix.h"

namespace nmc::cpu {
namespace {

constexpr Bf16 kNan = 0x7fc0;

class KernelsTest : public testing::TestWithParam<Instructions> {
 protected:
  Bf16 random_value() { return float_to_bf16(normal_(random_)); }
  const Kernels& kernels() const { return kernels_of(GetParam()); }

  std::mt19937 random_{7};
  std::normal_distribution<float> normal_;
};

// |error| of a float32 sum of `count` products in any order: at most count roundings of 2^-24, of
// partial sums that the sum of magnitudes bounds.
double bound(size_t count, double magnitude) {
  return static_cast<double>(count) * std::ldexp(1.0, -24) * magnitude;
}

TEST_P(KernelsTest, MultiplyIsTheDotProductOfEachRow) {
  for (int64_t cols : {64, 128, 320, 2048}) {
    const auto atoms = static_cast<size_t>(cols / kAtomCols);
    auto weights = make_aligned<Bf16>(static_cast<size_t>(8 * cols));
    for (int64_t i = 0; i < 8 * cols; ++i) weights[static_cast<size_t>(i)] = random_value();
    Matrix<Bf16> x(5, cols);
    std::vector<const Bf16*> operands;
    for (size_t t = 0; t < 5; ++t) {
      for (size_t i = 0; i < x.cols(); ++i) x.row(t)[i] = random_value();
      operands.push_back(x.row(t));
    }
    std::vector<float> sums(5 * 8);
    kernels().multiply(weights.get(), atoms, operands.data(), 5, sums.data());
    for (size_t t = 0; t < 5; ++t) {
      for (int64_t row = 0; row < 8; ++row) {
        double sum = 0, magnitude = 0;
        for (int64_t col = 0; col < cols; ++col) {
          const double product =
              double{bf16_to_float(weights[static_cast<size_t>(tiled_index(row, col, cols))])} *
              double{bf16_to_float(operands[t][col])};
          sum += product;
          magnitude += std::abs(product);
        }
        EXPECT_NEAR(sums[t * 8 + static_cast<size_t>(row)], sum,
                    bound(static_cast<size_t>(cols), magnitude));
      }
    }
  }
}

TEST_P(KernelsTest, AnOperandHasTheSameBitsAmongOthers) {
  auto weights = make_aligned<Bf16>(8 * 256);
  for (size_t i = 0; i < 8 * 256; ++i) weights[i] = random_value();
  Matrix<Bf16> x(6, 256);
  std::vector<const Bf16*> operands;
  for (size_t t = 0; t < 6; ++t) {
    for (size_t i = 0; i < 256; ++i) x.row(t)[i] = random_value();
    operands.push_back(x.row(t));
  }
  for (size_t first = 0; first < 6; ++first) {
    float alone[8];
    kernels().multiply(weights.get(), 4, operands.data() + first, 1, alone);
    for (size_t begin = 0; begin <= first; ++begin) {
      for (size_t end = first + 1; end <= 6; ++end) {
        float sums[6 * 8];
        kernels().multiply(weights.get(), 4, operands.data() + begin, end - begin, sums);
        EXPECT_EQ(std::memcmp(alone, sums + (first - begin) * 8, sizeof alone), 0);
      }
    }
  }
}

TEST_P(KernelsTest, TwoGroupsAtOnceHaveTheBitsOfEach) {
  auto weights = make_aligned<Bf16>(3 * 8 * 256);
  for (size_t i = 0; i < 3 * 8 * 256; ++i) weights[i] = random_value();
  Matrix<Bf16> x(1, 256);
  for (size_t i = 0; i < 256; ++i) x.row(0)[i] = random_value();
  const Bf16* operand = x.row(0);
  const Bf16 *first = weights.get(), *second = weights.get() + 2 * 8 * 256;
  float each[2][8], both[16];
  kernels().multiply(first, 4, &operand, 1, each[0]);
  kernels().multiply(second, 4, &operand, 1, each[1]);
  kernels().multiply_two(first, second, 4, operand, both);
  EXPECT_EQ(std::memcmp(each, both, sizeof both), 0);
}

TEST_P(KernelsTest, WeightedSumLooksOnlyAtItsRows) {
  for (size_t atoms : {1, 2, 3}) {
    const auto dims = static_cast<int64_t>(atoms) * kAtomCols;
    for (size_t begin : {0, 1, 8, 13, 63}) {
      for (size_t end : {1, 9, 16, 30, 64}) {
        if (begin >= end) continue;
        auto page = make_aligned<Bf16>(static_cast<size_t>(64 * dims));
        std::fill_n(page.get(), 64 * dims, kNan);
        for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
          for (int64_t d = 0; d < dims; ++d) {
            page[static_cast<size_t>(tiled_index(row, d, dims))] = random_value();
          }
        }
        const size_t heads = begin % 2 == 0 ? 7 : 6;
        std::vector<float> weights(heads * 64, std::numeric_limits<float>::quiet_NaN());
        for (size_t h = 0; h < heads; ++h) {
          for (size_t t = begin; t < end; ++t) weights[h * 64 + t] = std::abs(normal_(random_));
        }
        std::vector<float> sums(heads * static_cast<size_t>(dims));
        kernels().weighted_sum(page.get(), atoms, begin, end, weights.data(), heads, sums.data());
        for (size_t h = 0; h < heads; ++h) {
          for (int64_t d = 0; d < dims; ++d) {
            double sum = 0, magnitude = 0;
            for (size_t t = begin; t < end; ++t) {
              const double product =
                  double{weights[h * 64 + t]} *
                  double{bf16_to_float(
                      page[static_cast<size_t>(tiled_index(static_cast<int64_t>(t), d, dims))])};
              sum += product;
              magnitude += std::abs(product);
            }
            EXPECT_NEAR(sums[h * static_cast<size_t>(dims) + static_cast<size_t>(d)], sum,
                        bound(end - begin, magnitude));
          }
          std::vector<float> alone(static_cast<size_t>(dims));
          kernels().weighted_sum(page.get(), atoms, begin, end, weights.data() + h * 64, 1,
                                 alone.data());
          EXPECT_EQ(std::memcmp(alone.data(), sums.data() + h * static_cast<size_t>(dims),
                                alone.size() * sizeof(float)),
                    0);
        }
      }
    }
  }
}

TEST(Exp, IsCloseToTheExactOne) {
  double worst = 0;
  for (float x = 0; x > -87.0f; x -= 0.00137f) {
    worst = std::max(worst, std::abs(exp_of_nonpositive(x) / std::exp(double{x}) - 1));
  }
  EXPECT_LT(worst, 3e-7);
  EXPECT_EQ(exp_of_nonpositive(0), 1.0f);
  EXPECT_LT(exp_of_nonpositive(-1e30f), 2e-38f);
  EXPECT_TRUE(std::isnan(exp_of_nonpositive(std::numeric_limits<float>::quiet_NaN())));
}

std::string instructions_name(const testing::TestParamInfo<Instructions>& info) {
  constexpr const char* kNames[] = {"portable", "avx2", "avx512", "avx512bf16"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Supported, KernelsTest, testing::ValuesIn(supported_instructions()),
                         instructions_name);

}  // namespace
}  // namespace nmc::cpu
