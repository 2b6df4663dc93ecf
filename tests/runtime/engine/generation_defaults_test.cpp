#include "runtime/engine/generation_defaults.h"

#include <gtest/gtest.h>

namespace nmc::test {
namespace {

TEST(GenerationDefaults, ComeFromTheModelFile) {
  auto none = generation_defaults("");
  EXPECT_EQ(none->temperature, 1.0);
  EXPECT_EQ(none->top_p, 0.95);
  auto some = generation_defaults(R"({"temperature": 0.3, "top_k": 40, "eos_token_id": 2})");
  EXPECT_EQ(some->temperature, 0.3);
  EXPECT_EQ(some->top_k, 40);
  EXPECT_EQ(some->top_p, 0.95);
  EXPECT_FALSE(generation_defaults(R"({"temperature": "hot"})").ok());
}

}  // namespace
}  // namespace nmc::test
