// Where requests go when there are several engines.
#include "runtime/engine/engine_choice.h"

#include <gtest/gtest.h>

#include <numeric>

namespace nmc {
namespace {

std::vector<int32_t> text(int32_t first, size_t tokens) {
  std::vector<int32_t> ids(tokens);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

std::vector<EngineLoad> idle(size_t engines) {
  return std::vector<EngineLoad>(engines, EngineLoad{.slots = 2});
}

TEST(EngineChoice, StrangersAreSpreadEvenly) {
  EngineChoice choice(1000);
  std::vector<int> chosen(3);
  for (int32_t i = 0; i < 9; ++i) ++chosen[*choice.choose("", text(i * 1000, 100), idle(3))];
  EXPECT_EQ(chosen, std::vector<int>({3, 3, 3}));
}

TEST(EngineChoice, TheLeastBusyIsTheOneWithTheLargestPartFree) {
  EngineChoice choice(1000);
  EXPECT_EQ(
      choice.choose("", text(0, 10), {{.requests = 1, .slots = 2}, {.requests = 1, .slots = 8}}),
      1u);
}

TEST(EngineChoice, ASessionGoesBackWhereItWas) {
  EngineChoice choice(1000);
  const size_t home = *choice.choose("a", text(0, 100), idle(3));
  for (int32_t i = 0; i < 5; ++i) choice.choose("", text(i * 1000, 100), idle(3));
  EXPECT_EQ(choice.choose("a", text(7, 10), idle(3)), home);
}

TEST(EngineChoice, APromptGoesWhereTheLongestPartOfItWas) {
  EngineChoice choice(1000);
  const std::vector<int32_t> long_text = text(0, 64 * 6);
  const std::span<const int32_t> all(long_text);
  std::vector<EngineLoad> loads = idle(2);
  loads[1].healthy = false;
  EXPECT_EQ(choice.choose("", all.first(64 * 2), loads), 0u);
  std::swap(loads[0], loads[1]);
  EXPECT_EQ(choice.choose("", all.first(64 * 4), loads), 1u);
  // Four pages are on the second; that the first has two of them does not count.
  EXPECT_EQ(choice.choose("", all, idle(2)), 1u);
  // Less than a page says nothing, and another beginning is another text.
  std::vector<EngineLoad> second_busy = idle(2);
  second_busy[1].requests = 1;
  EXPECT_EQ(choice.choose("", all.first(63), second_busy), 0u);
  std::vector<int32_t> other = long_text;
  other[0] = -1;
  EXPECT_EQ(choice.choose("", other, second_busy), 0u);
}

TEST(EngineChoice, NobodyQueuesUpForAPrefixWhileASlotIsFree) {
  EngineChoice choice(1000);
  const size_t home = *choice.choose("a", text(0, 200), idle(2));
  std::vector<EngineLoad> loads = idle(2);
  loads[home].requests = 2;
  EXPECT_EQ(choice.choose("", text(0, 200), loads), 1 - home);
  // When all would have to wait, the prefix decides: it is where it was sent last.
  loads = {{.requests = 5, .slots = 2}, {.requests = 5, .slots = 2}};
  loads[home].requests = 4;
  EXPECT_EQ(choice.choose("", text(0, 200), loads), 1 - home);
}

TEST(EngineChoice, WhatFailedGetsNothing) {
  EngineChoice choice(1000);
  const size_t home = *choice.choose("a", text(0, 200), idle(2));
  std::vector<EngineLoad> loads = idle(2);
  loads[home].healthy = false;
  EXPECT_EQ(choice.choose("a", text(0, 200), loads), 1 - home);
  loads[1 - home].healthy = false;
  EXPECT_FALSE(choice.choose("a", text(0, 200), loads));
}

TEST(EngineChoice, ForgetsWhatWasNotUsedForLongest) {
  EngineChoice choice(3);  // pages
  std::vector<EngineLoad> loads = idle(2);
  const size_t home = *choice.choose("", text(0, 128), loads);
  loads[home].requests = 1;  // a stranger goes to the other one
  EXPECT_EQ(choice.choose("", text(0, 128), loads), home);
  choice.choose("", text(5000, 128), loads);
  EXPECT_EQ(choice.choose("", text(0, 64), loads), 1 - home);
}

}  // namespace
}  // namespace nmc
