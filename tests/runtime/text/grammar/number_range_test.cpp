#include "runtime/text/grammar/number_range.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

using Bound = std::optional<NumberBound>;

Bound at(double v, bool exclusive = false) {
  return NumberBound{Decimal::from_double(v), exclusive};
}

TEST(NumberRange, IntegersExactlyInside) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    int64_t spread = round % 3 == 0 ? 30 : round % 3 == 1 ? 300 : 3000;
    auto pick = [&] {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(2 * spread)) - spread;
    };
    int64_t low = pick(), high = pick();
    if (low > high) std::swap(low, high);
    bool no_low = round % 7 == 0, no_high = round % 5 == 0, xl = random() % 2, xh = random() % 2;
    auto g = make_grammar([&](GrammarBuilder& b, JsonRules&) {
      ExprId e = number_between(b, no_low ? Bound{} : at(static_cast<double>(low), xl),
                                no_high ? Bound{} : at(static_cast<double>(high), xh), true);
      return b.choice({e, b.literal("x")});  // so that an empty range still compiles
    });
    ASSERT_TRUE(g);
    for (int64_t v = -spread - 5; v <= spread + 5;
         v += 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(spread / 20 + 1))) {
      bool inside =
          (no_low || v > low || (v == low && !xl)) && (no_high || v < high || (v == high && !xh));
      EXPECT_EQ(accepts(g, std::to_string(v)), inside)
          << v << " in " << low << ".." << high << " " << xl << xh << no_low << no_high;
    }
    EXPECT_FALSE(accepts(g, "-0"));
    EXPECT_FALSE(accepts(g, "01"));
  }
}

TEST(NumberRange, DecimalsExactlyInside) {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    auto pick = [&] {
      return (static_cast<double>(random() % 4001) - 2000) / (round % 2 ? 100 : 8);
    };
    double low = pick(), high = pick();
    if (low > high) std::swap(low, high);
    bool no_low = round % 7 == 0, no_high = round % 5 == 0, xl = random() % 2, xh = random() % 2;
    auto g = make_grammar([&](GrammarBuilder& b, JsonRules&) {
      ExprId e = number_between(b, no_low ? Bound{} : at(low, xl), no_high ? Bound{} : at(high, xh),
                                false);
      return b.choice({e, b.literal("x")});
    });
    ASSERT_TRUE(g);
    for (int i = 0; i < 200; ++i) {
      char text[32];
      double v = i < 4 ? (i % 2 ? low : high) : pick();
      std::snprintf(text, sizeof text, i % 3 ? "%.3f" : "%.5f", v);
      if (std::string(text).starts_with("-0.000")) continue;
      double exact = std::strtod(text, nullptr);
      bool inside = (no_low || exact > low || (exact == low && !xl)) &&
                    (no_high || exact < high || (exact == high && !xh));
      EXPECT_EQ(accepts(g, text), inside)
          << text << " in " << low << ".." << high << " " << xl << xh << no_low << no_high;
    }
  }
}

TEST(NumberRange, TheSafeIntegersOfJavaScript) {
  auto g = make_grammar([](GrammarBuilder& b, JsonRules&) {
    return number_between(b, at(-9007199254740991.0), at(9007199254740991.0), true);
  });
  EXPECT_TRUE(accepts(g, "9007199254740991"));
  EXPECT_TRUE(accepts(g, "-9007199254740991"));
  EXPECT_FALSE(accepts(g, "9007199254740992"));
  EXPECT_TRUE(accepts(g, "0"));
}

}  // namespace
}  // namespace nmc
