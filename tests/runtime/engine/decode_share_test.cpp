#include "runtime/engine/decode_share.h"

#include <gtest/gtest.h>

namespace nmc {
namespace {

// Steps of a device that decodes in `decode` seconds and reads a chunk in `chunk` more, while there
// is always something of both to do. Returns decoding's share of the time.
double share_of(double share, double decode, double chunk) {
  DecodeShare budget(share);
  double decoding = 0, total = 0;
  for (int i = 0; i < 10000; ++i) {
    bool read = budget.prefill_due();
    double time = decode + (read ? chunk : 0);
    budget.spent(time, true, read);
    decoding += decode;
    total += time;
  }
  return decoding / total;
}

TEST(DecodeShare, DecodingGetsItsShare) {
  for (double share : {0.25, 0.5, 0.8}) {
    for (double chunk : {0.01, 0.05, 0.3}) {
      double got = share_of(share, 0.002, chunk);
      EXPECT_GE(got, share - 0.005) << share << " " << chunk;
      // Beside a chunk there is one decode step, and time comes in whole steps.
      EXPECT_LE(got, share + 2 * 0.002 / chunk) << share << " " << chunk;
    }
  }
}

TEST(DecodeShare, ZeroReadsInEveryStep) {
  EXPECT_NEAR(share_of(0, 0.002, 0.05), 0.002 / 0.052, 1e-9);
}

TEST(DecodeShare, NobodyWaitsForStreamsThatEnded) {
  DecodeShare budget(0.5);
  budget.spent(1, true, true);
  EXPECT_FALSE(budget.prefill_due());
  budget.spent(0.1, false, true);
  EXPECT_TRUE(budget.prefill_due());
}

}  // namespace
}  // namespace nmc
