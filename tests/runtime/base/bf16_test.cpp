#include "runtime/base/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nmc {
namespace {

TEST(Bf16, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto v = static_cast<Bf16>(bits);
    float f = bf16_to_float(v);
    if (std::isnan(f))
      EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(f))));
    else
      EXPECT_EQ(float_to_bf16(f), v);
  }
}

TEST(Bf16, TiesRoundToTheEvenNeighbour) {
  EXPECT_EQ(float_to_bf16(1.0f + 1.0f / 256), 0x3f80);  // between 1 and 1 + 1/128
  EXPECT_EQ(float_to_bf16(1.0f + 3.0f / 256), 0x3f82);  // between odd and even
  EXPECT_EQ(float_to_bf16(std::nextafter(1.0f + 1.0f / 256, 2.0f)), 0x3f81);
}

TEST(Bf16, LargeFloatsBecomeInfinity) {
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

}  // namespace
}  // namespace nmc
