#include "convert/cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace nmc {
namespace {

// 2^(e - 15) * (1 + m / 1024), written down from IEEE 754 rather than from the code.
double half_value(uint16_t bits) {
  int e = bits >> 10 & 31, m = bits & 1023;
  double magnitude = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Cast, EveryHalfIsExact) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float f = half_to_float(static_cast<uint16_t>(bits));
    if ((bits & 0x7c00) != 0x7c00) {
      ASSERT_EQ(static_cast<double>(f), half_value(static_cast<uint16_t>(bits))) << bits;
      ASSERT_EQ(std::signbit(f), bits >= 0x8000) << bits;
    } else {
      ASSERT_EQ(std::isnan(f), (bits & 1023) != 0) << bits;
    }
  }
}

TEST(Cast, FloatsRoundToNearestEven) {
  struct Case {
    uint32_t in;
    Bf16 out;
  };
  for (Case c : {Case{0x3f800000, 0x3f80},
                 {0x3f808000, 0x3f80},  // a tie goes to the even side: down here,
                 {0x3f818000, 0x3f82},  // up here
                 {0x3f808001, 0x3f81},
                 {0x3f807fff, 0x3f80},
                 {0x80000000, 0x8000},
                 {0x7f7fffff, 0x7f80},  // the largest float rounds to infinity
                 {0xff800000, 0xff80},
                 {0x00000001, 0x0000},
                 {0x7f800001, 0x7fc0}}) {  // a NaN stays a NaN
    uint8_t unaligned[5];
    std::memcpy(unaligned + 1, &c.in, 4);
    Bf16 out = 0;
    read_as_bf16(Dtype::kF32, unaligned + 1, {&out, 1});
    EXPECT_EQ(out, c.out) << std::hex << c.in;
  }
}

TEST(Cast, Bf16IsCopiedWhateverItHolds) {
  uint8_t bytes[7] = {0, 0x01, 0x7f, 0xff, 0xff, 0x00, 0x80};
  Bf16 out[3];
  read_as_bf16(Dtype::kBf16, bytes + 1, out);
  EXPECT_EQ(out[0], 0x7f01);
  EXPECT_EQ(out[1], 0xffff);
  EXPECT_EQ(out[2], 0x8000);
}

TEST(Cast, ZerosOfEitherSign) {
  uint8_t minus_zero[4] = {0, 0, 0, 0x80};
  EXPECT_TRUE(all_zero(Dtype::kF32, minus_zero, 4));
  EXPECT_FALSE(all_zero(Dtype::kI32, minus_zero, 4));
  EXPECT_TRUE(all_zero(Dtype::kBf16, minus_zero, 4));
  uint8_t tiny[4] = {1, 0, 0, 0};
  EXPECT_FALSE(all_zero(Dtype::kF32, tiny, 4));
  uint8_t second_byte[2] = {0x80, 0};
  EXPECT_FALSE(all_zero(Dtype::kBf16, second_byte, 2));
}

}  // namespace
}  // namespace nmc
