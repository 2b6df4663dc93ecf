// Who gets the next step, without threads and clocks.
#include "runtime/engine/scheduler.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

class SchedulerTest : public ::testing::Test {
 protected:
  explicit SchedulerTest(KvCapacity capacity = {100, 60})
      : scheduler_(make_kv_layout(fake_model()), capacity, {.parallel = 8, .prefill_chunk = 64}) {}

  // A request whose prompt begins with `first`; prompts of different firsts share nothing.
  Sequence* add(int32_t first, size_t prompt, int64_t max_tokens = 50) {
    auto s = std::make_unique<Sequence>();
    s->request = request(first, prompt, max_tokens);
    s->tokens = s->request.prompt;
    s->token_limit = s->prompt_size() + max_tokens;
    s->generation = std::make_shared<Generation>(s->prompt_size());
    Sequence* plain = s.get();
    scheduler_.add(std::move(s));
    scheduler_.admit();
    return plain;
  }

  // Runs a step; the tokens that each sequence got.
  std::map<Sequence*, int64_t> step(bool read = true) {
    std::map<Sequence*, int64_t> got;
    for (const Scheduler::Work& w : scheduler_.next_step(read)) {
      got[w.sequence] = w.count;
      scheduler_.done(w);
      if (w.sequence->pending() == 0) w.sequence->tokens.push_back(7);
    }
    scheduler_.check_invariants();
    return got;
  }

  Scheduler scheduler_;
};

TEST_F(SchedulerTest, AShortRequestBehindLongOnesStartsWithinTwoChunks) {
  for (int32_t i = 0; i < 4; ++i) add(i, 900);
  step();
  for (int round = 0; round < 5; ++round) {
    Sequence* brief = add(50 + round, 20);
    int steps = 1;
    while (step().count(brief) == 0) ++steps;
    EXPECT_LE(steps, 2);
    EXPECT_FALSE(brief->reading());
    scheduler_.remove(brief);
  }
}

TEST_F(SchedulerTest, ShortRequestsDoNotStarveALongOne) {
  Sequence* late = add(1, 640);
  int steps = 0;
  for (int32_t i = 0; late->reading(); ++i, ++steps) {
    add(10 + i % 70, 64);
    for (auto [s, count] : step()) {
      if (!s->reading() && s != late) scheduler_.remove(s);
    }
  }
  EXPECT_LE(steps, 2 * 640 / 64 + 1);
}

TEST_F(SchedulerTest, AChunkHoldsManyShortPrompts) {
  std::vector<Sequence*> all;
  for (int32_t i = 0; i < 6; ++i) all.push_back(add(i, 10));
  EXPECT_EQ(step().size(), 6u);
  for (Sequence* s : all) EXPECT_FALSE(s->reading());
}

TEST_F(SchedulerTest, PromptsWaitWhileDecodingHasTheDevice) {
  Sequence* stream = add(1, 10);
  step();
  Sequence* prompt = add(2, 500);
  EXPECT_EQ(step(false), (std::map<Sequence*, int64_t>{{stream, 1}}));
  EXPECT_EQ(step(true), (std::map<Sequence*, int64_t>{{stream, 1}, {prompt, 64}}));
  scheduler_.remove(stream);
  EXPECT_EQ(step(false), (std::map<Sequence*, int64_t>{{prompt, 64}}));  // nobody decodes
}

TEST_F(SchedulerTest, WhatTwoPromptsShareIsReadOnce) {
  auto tail = [](Sequence* s, int32_t with) {
    for (size_t i = 330; i < s->tokens.size(); ++i) s->tokens[i] = with;
    s->request.prompt = s->tokens;
  };
  Sequence* a = add(1, 600);
  tail(a, 91);
  step();
  Sequence* b = add(1, 400);
  tail(b, 92);
  int64_t read = 64;
  while (a->reading() || b->reading()) {
    for (auto [s, count] : step()) read += count == 1 ? 0 : count;
  }
  EXPECT_EQ(b->generation->progress().cached_tokens, 320);
  EXPECT_EQ(read, 600 + 400 - 320);
}

class TightScheduler : public SchedulerTest {
 protected:
  TightScheduler() : SchedulerTest({10, 14}) {}
};

TEST_F(TightScheduler, TheYoungestYieldsAndComesBackBeforeNewcomers) {
  Sequence* old = add(1, 190, 300);
  Sequence* young = add(2, 190, 300);
  Sequence* newcomer = add(3, 300, 5);
  EXPECT_EQ(scheduler_.running().size(), 2u);  // there is no room for its prompt
  for (int i = 0; scheduler_.preemptions() == 0 && i < 300; ++i) step();
  EXPECT_EQ(scheduler_.preemptions(), 1u);
  EXPECT_TRUE(old->pages);
  EXPECT_FALSE(young->pages);
  EXPECT_EQ(scheduler_.waiting().front().get(), young);
  scheduler_.admit();
  EXPECT_FALSE(young->pages);  // not before there is room for it and some growth of the other
  scheduler_.remove(old);
  scheduler_.admit();
  EXPECT_TRUE(young->pages);
  EXPECT_EQ(young->to_read, static_cast<int64_t>(young->tokens.size()));
  EXPECT_FALSE(newcomer->pages);
}

}  // namespace
}  // namespace nmc
