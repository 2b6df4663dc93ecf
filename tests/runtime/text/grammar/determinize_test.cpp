#include "runtime/text/grammar/determinize.h"

#include <gtest/gtest.h>

#include "runtime/text/grammar/gbnf.h"
#include "tests/runtime/text/grammar/walk.h"

namespace nmc {
namespace {

std::shared_ptr<Grammar> gbnf(const std::string& text) {
  GrammarBuilder b;
  auto root = parse_gbnf(b, text);
  EXPECT_TRUE(root.ok()) << root.status().message();
  auto grammar = Grammar::compile(b, *root, test_vocabulary());
  EXPECT_TRUE(grammar.ok()) << grammar.status().message();
  return *grammar;
}

MachineState state(std::vector<MachineState::Edge> edges, StateId id, bool accepts = false) {
  MachineState s;
  s.edges = std::move(edges);
  s.accepts = accepts;
  s.mask_class = id;
  return s;
}

TEST(Determinize, ByteAndCallLeadToOneState) {
  // "ab" or "ac"
  std::vector<MachineState> states = {state({{'a', 'a', 1}, {'a', 'a', 2}}, 0),
                                      state({{'b', 'b', 3}}, 1), state({{'c', 'c', 3}}, 2),
                                      state({}, 3, true)};
  states[1].calls = {{7, 3}};
  states[2].calls = {{7, 0}};
  auto made = determinize(states, 100);
  ASSERT_TRUE(made);
  ASSERT_EQ((*made)[0].edges.size(), 1u);
  const MachineState& second = (*made)[(*made)[0].edges[0].target];
  ASSERT_EQ(second.edges.size(), 1u);
  EXPECT_EQ(second.edges[0].low, 'b');
  EXPECT_EQ(second.edges[0].high, 'c');
  ASSERT_EQ(second.calls.size(), 1u);
  EXPECT_TRUE((*made)[second.calls[0].return_to].accepts);
  EXPECT_FALSE(determinize(states, 2));
}

TEST(Determinize, OverlappingRangesAreCut) {
  const std::vector<MachineState> states = {state({{'a', 'm', 1}, {'k', 'z', 2}}, 0),
                                            state({}, 1, true), state({{'x', 'x', 1}}, 2)};
  auto made = determinize(states, 100);
  ASSERT_TRUE(made);
  std::string ranges;
  for (const auto& e : (*made)[0].edges)
    ranges += {static_cast<char>(e.low), static_cast<char>(e.high)};
  EXPECT_EQ(ranges, "ajkmnz");
}

TEST(Determinize, EqualStatesAreOne) {
  auto made = merge_equal({state({{'a', 'a', 1}, {'b', 'b', 2}}, 0), state({{'x', 'x', 3}}, 1),
                           state({{'x', 'x', 4}}, 2), state({}, 3, true), state({}, 4, true)});
  EXPECT_EQ(made.size(), 3u);
  // ... but a rule begins at its first.
  made = merge_equal({state({{'x', 'x', 1}}, 0), state({{'x', 'x', 1}}, 1)});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].edges[0].target, 1u);
}

// A rule that would need 2^20 states without choices keeps its choices.
TEST(Determinize, WhatWouldGrowTooMuchStaysAsItIs) {
  auto grammar = gbnf(R"(root ::= [ab]* "a" [ab]{20} "!")");
  const std::string twenty(20, 'b');
  EXPECT_TRUE(accepts(grammar, "ba" + twenty + "!"));
  EXPECT_FALSE(accepts(grammar, "bb" + twenty + "!"));
  for (const auto& prefix : {std::string(), std::string("ab"), "ba" + twenty}) {
    EXPECT_EQ(mask_after(grammar, prefix), mask_by_definition(grammar, prefix)) << prefix;
  }
}

}  // namespace
}  // namespace nmc
