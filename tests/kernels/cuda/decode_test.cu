// The decode kernel against its plain twin: North's geometry, synthetic weights, noise as context.
// Needs an H200 (or a Hopper GPU of the same size) and room for the weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <span>

#include "kernels/cuda/decode/decoder.h"
#include "kernels/cuda/decode/events.h"
#include "kernels/cuda/noisy_sequence.h"
#include "runtime/engine/sampler.h"
#include "runtime/engine/token_noise.h"
#include "tests/kernels/cuda/decode_twin.h"
#include "tests/kernels/cuda/north.h"
#include "tests/support/require.h"

namespace nmc::cuda {
namespace {

using test::north;
using test::require;

// Layers of the model under test: 5 (a dense one, sliding ones, a global one with experts), or
// NMC_DECODE_LAYERS.
int layers_under_test() {
  const char* layers = std::getenv("NMC_DECODE_LAYERS");
  return layers ? std::atoi(layers) : 5;
}

struct Steps {
  std::vector<int32_t> tokens;
  std::vector<float> logits;  // [steps][vocab]
  std::vector<int> experts;   // [steps][layers][8]
};

class DecodeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    weights_ = new DeviceWeights(require(DeviceWeights::synthesize(north(layers_under_test()))));
  }
  static void TearDownTestSuite() {
    delete weights_;
    weights_ = nullptr;
  }
  const ModelDescription& model() const { return weights_->model(); }

  // `sampling`: of each sequence; none: all greedy.
  Steps decode(Decoder& decoder, std::span<const NoisySequence* const> sequences, int steps,
               Disturbance disturbance = {}, std::span<const RowSampling> sampling = {},
               int64_t vocabulary = 0) {
    Steps out;
    const size_t vocab = model().vocab, chosen = model().layers.size() * 8, rows = sequences.size();
    const auto logits = require(allocate_device(steps * rows * vocab * sizeof(float), "logits"));
    const auto experts = require(allocate_device(steps * rows * chosen * sizeof(int), "experts"));
    std::vector<DecodeRow> batch;
    for (const NoisySequence* s : sequences) {
      batch.push_back({first_token(*s), s->tokens(), s->global_pages(), s->sliding_pages()});
    }
    for (size_t i = 0; i < sampling.size(); ++i) batch[i].sampling = sampling[i];
    require(decoder.start({.rows = batch,
                           .steps = steps,
                           .logits = logits.as<float>(),
                           .experts = experts.as<int>(),
                           .vocabulary = vocabulary,
                           .disturbance = disturbance},
                          nullptr));
    require(decoder.wait(nullptr));
    out.tokens.resize(steps * rows);
    out.logits.resize(steps * rows * vocab);
    out.experts.resize(steps * rows * chosen);
    cudaMemcpy(out.tokens.data(), decoder.tokens(), steps * rows * sizeof(int), cudaMemcpyDefault);
    cudaMemcpy(out.logits.data(), logits.as<float>(), logits.bytes(), cudaMemcpyDefault);
    cudaMemcpy(out.experts.data(), experts.as<int>(), experts.bytes(), cudaMemcpyDefault);
    return out;
  }
  Steps decode(Decoder& decoder, const NoisySequence& sequence, int steps) {
    const NoisySequence* one = &sequence;
    return decode(decoder, std::span(&one, 1), steps);
  }
  static int32_t first_token(const NoisySequence& s) { return 1000 + int32_t(s.tokens()); }

  static DeviceWeights* weights_;
};
DeviceWeights* DecodeTest::weights_ = nullptr;

// Page pools with every slot a NaN that no sequence has written.
KvPools poisoned_pools(const ModelDescription& model, int64_t pages) {
  return require(KvPools::create(model, {pages, pages}, /*poison=*/true));
}

// How a row's logits compare with the twin's: the largest error against the size of all.
struct Comparison {
  double error = 0, size = 0, margin = 0;  // margin: of the twin's best over the kernel's choice
};
Comparison compare(std::span<const float> got, std::span<const float> want, int32_t token) {
  Comparison c;
  float best = -INFINITY;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(double(got[i]) - want[i]);
    c.error = std::isnan(error) ? INFINITY : std::max(c.error, error);
    c.size += double(want[i]) * want[i];
    best = std::max(best, want[i]);
  }
  c.size = std::sqrt(c.size / double(want.size()));
  c.margin = best - want[token];
  return c;
}

TEST_F(DecodeTest, EqualsItsTwinAtEveryKindOfContext) {
  constexpr int kSteps = 3;
  for (int64_t context :
       {0, 1, 7, 62, 63, 64, 65, 2046, 2048, 4094, 4095, 4096, 4097, 8192, 8255, 20000}) {
    SCOPED_TRACE("context " + std::to_string(context));
    const int64_t pages = NoisySequence::pages(context, kSteps);
    const KvPools kv = poisoned_pools(model(), pages), twin_kv = poisoned_pools(model(), pages);
    const auto sequence = require(NoisySequence::create(model(), kv, context, kSteps, 7));
    const auto twin_sequence = require(NoisySequence::create(model(), twin_kv, context, kSteps, 7));
    auto decoder = require(Decoder::create(*weights_, kv));
    auto twin = require(DecodeTwin::create(*weights_, twin_kv));
    const Steps got = decode(decoder, sequence, kSteps);
    int32_t token = first_token(sequence);
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> want;
      std::vector<int> experts;
      require(twin.step(token, context + step, twin_sequence.global_pages(),
                        twin_sequence.sliding_pages(), &want, &experts));
      token = got.tokens[step];
      const Comparison c =
          compare(std::span(got.logits).subspan(step * want.size(), want.size()), want, token);
      std::cout << "context " << context << " step " << step << ": largest error " << c.error
                << ", logits' size " << c.size << "\n";
      EXPECT_LT(c.error, 0.02 * c.size);
      EXPECT_LT(c.margin, 2 * c.error) << "token " << token << " is not the best";
      for (size_t layer = 1; layer < model().layers.size(); ++layer) {
        const auto chosen = got.experts.begin() + step * experts.size() + layer * 8;
        std::sort(experts.begin() + layer * 8, experts.begin() + layer * 8 + 8);
        EXPECT_TRUE(std::equal(chosen, chosen + 8, experts.begin() + layer * 8))
            << "layer " << layer;
      }
    }
  }
}

int runs_of(const char* variable, int otherwise) {
  const char* runs = std::getenv(variable);
  return runs ? std::atoi(runs) : otherwise;
}

// Sequences of all kinds of lengths in one pair of pools.
class Sequences {
 public:
  static constexpr int kSteps = 4;
  Sequences(const ModelDescription& model, int count)
      : kv_(poisoned_pools(model, all_pages(count))) {
    int32_t page = 0;
    for (int i = 0; i < count; ++i) {
      made_.push_back(require(NoisySequence::create(model, kv_, context(i), kSteps, 11 + i, page)));
      page += int32_t(NoisySequence::pages(context(i), kSteps));
    }
  }
  const KvPools& kv() const { return kv_; }
  const NoisySequence& operator[](size_t i) const { return made_[i]; }

 private:
  static int64_t context(int i) {
    constexpr int64_t kContexts[] = {8192, 0, 65, 4100, 1000, 63, 20000, 300};
    return kContexts[i % 8] / (1 + i / 8) + i / 8;
  }
  static int64_t all_pages(int count) {
    int64_t pages = 0;
    for (int i = 0; i < count; ++i) pages += NoisySequence::pages(context(i), kSteps);
    return pages;
  }
  KvPools kv_;
  std::vector<NoisySequence> made_;
};

TEST_F(DecodeTest, GivesTheSameBitsInAnyBatch) {
  const Sequences sequences(model(), kMaxDecodeRows);
  auto decoder = require(Decoder::create(*weights_, sequences.kv()));
  std::vector<Steps> solo;
  std::vector<int> order;
  for (int i = 0; i < kMaxDecodeRows; ++i) {
    solo.push_back(decode(decoder, sequences[i], Sequences::kSteps));
    order.push_back(i);
  }
  std::mt19937 random(5);
  for (int run = 0; run < runs_of("NMC_DECODE_RUNS", 36); ++run) {
    constexpr size_t kRows[] = {1, 9, 2, 16, 3, 17, 4, 64, 5, 12, 6, 32, 7, 33, 8, 48, 25, 63};
    const size_t rows = kRows[run % std::size(kRows)];
    std::ranges::shuffle(order, random);
    std::vector<const NoisySequence*> batch;
    for (size_t i = 0; i < rows; ++i) batch.push_back(&sequences[order[i]]);
    const Steps got = decode(decoder, batch, Sequences::kSteps);
    const size_t vocab = model().vocab, chosen = model().layers.size() * 8;
    for (size_t i = 0; i < rows; ++i) {
      const Steps& want = solo[order[i]];
      SCOPED_TRACE("sequence " + std::to_string(order[i]) + " as row " + std::to_string(i) +
                   " of " + std::to_string(rows));
      for (int step = 0; step < Sequences::kSteps; ++step) {
        const size_t at = step * rows + i;
        const bool experts = std::equal(got.experts.begin() + at * chosen + 8,
                                        got.experts.begin() + (at + 1) * chosen,
                                        want.experts.begin() + step * chosen + 8);
        const bool logits = std::memcmp(&got.logits[at * vocab], &want.logits[step * vocab],
                                        vocab * sizeof(float)) == 0;
        if (got.tokens[at] == want.tokens[step] && experts && logits) continue;
        const Comparison c =
            compare(std::span(got.logits).subspan(at * vocab, vocab),
                    std::span(want.logits).subspan(step * vocab, vocab), want.tokens[step]);
        ADD_FAILURE() << "step " << step << ": token " << got.tokens[at] << ", alone "
                      << want.tokens[step] << "; experts " << (experts ? "equal" : "differ")
                      << "; largest difference of logits " << c.error << " at size " << c.size;
        break;
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(DecodeTest, GivesTheSameBitsInEveryRun) {
  const Sequences sequences(model(), kMaxDecodeRows);
  auto decoder = require(Decoder::create(*weights_, sequences.kv()));
  std::vector<const NoisySequence*> batch;
  for (size_t rows : {1, 2, 3, 8, 16, 23, 64}) {
    while (batch.size() < rows) batch.push_back(&sequences[batch.size()]);
    const Steps first = decode(decoder, batch, Sequences::kSteps);
    int differing = 0;
    for (int run = 0; run < runs_of("NMC_DECODE_RUNS", 24); ++run) {
      const Steps again = decode(decoder, batch, Sequences::kSteps);
      differing +=
          again.tokens != first.tokens || std::memcmp(again.logits.data(), first.logits.data(),
                                                      first.logits.size() * sizeof(float)) != 0;
    }
    EXPECT_EQ(differing, 0) << rows << " rows";
  }
}

// Every event of every warp may come late; what is computed must not depend on it.
// NMC_DECODE_SEEDS: how many orders of events are tried with each number of rows.
TEST_F(DecodeTest, GivesTheSameBitsUnderRandomDelays) {
  const Sequences sequences(model(), kMaxDecodeRows);
  auto decoder = require(Decoder::create(*weights_, sequences.kv()));
  std::vector<const NoisySequence*> batch;
  for (size_t rows : {1, 6, 16, 29, 64}) {
    while (batch.size() < rows) batch.push_back(&sequences[batch.size()]);
    const Steps calm = decode(decoder, batch, 2);
    for (int seed = 1; seed <= runs_of("NMC_DECODE_SEEDS", 8); ++seed) {
      const Steps late = decode(decoder, batch, 2, {.delay_seed = uint32_t(seed)});
      ASSERT_EQ(late.tokens, calm.tokens) << rows << " rows, seed " << seed;
      ASSERT_EQ(
          std::memcmp(late.logits.data(), calm.logits.data(), calm.logits.size() * sizeof(float)),
          0)
          << rows << " rows, seed " << seed;
    }
  }
}

using DecodeDeathTest = DecodeTest;

// A warp that never comes: the others give up, and the message says who waited for what. The device
// is lost then, so each case has a process of its own.
TEST_F(DecodeDeathTest, SaysWhoWaitedForWhatWhenASignalIsLost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  struct Case {
    size_t rows;
    decode::Event lost;
    const char* expected;
  };
  for (const Case& c :
       {Case{1, decode::Event::kQPublished, "waited for .* in layer 2 of step 0"},
        Case{8, decode::Event::kXSeen, "waited for .* in layer [23] of step 0"},
        Case{16, decode::Event::kPartialsSeen,
             "waited for everybody's part of x in layer 3 of step 0: 127 of 128 arrivals"},
        Case{64, decode::Event::kTopKnown,
             "waited for everybody's part of x in layer 3 of step 0: 127 of 128 arrivals"}}) {
    EXPECT_EXIT(
        {
          const Sequences sequences(model(), int(c.rows));
          auto decoder = require(Decoder::create(*weights_, sequences.kv()));
          std::vector<DecodeRow> rows;
          for (size_t i = 0; i < c.rows; ++i) {
            const NoisySequence& s = sequences[i];
            rows.push_back({first_token(s), s.tokens(), s.global_pages(), s.sliding_pages()});
          }
          require(decoder.start(
              {.rows = rows,
               .disturbance = {.lost_layer = 2, .lost_event = static_cast<int>(c.lost)}},
              nullptr));
          const Status status = decoder.wait(nullptr);
          std::cerr << status.message() << "\n";
          std::_Exit(status.code() == StatusCode::kInternal ? 3 : 4);
        },
        testing::ExitedWithCode(3), c.expected)
        << c.rows << " rows";
  }
}

// Every kind of draw in one batch, some flat and some steep, against the host's sampler.
TEST_F(DecodeTest, DrawsTheTokensThatTheHostDraws) {
  const Sequences sequences(model(), kMaxDecodeRows);
  auto decoder = require(Decoder::create(*weights_, sequences.kv()));
  const size_t vocab = model().vocab;
  int drawn = 0, differing = 0;
  for (int run = 0; run < runs_of("NMC_DECODE_RUNS", 24); ++run) {
    const size_t rows = std::array{1, 2, 3, 4, 8, 16, 33, 64}[run % 8];
    const int64_t known = run % 2 ? 0 : 200'000 - run;
    std::vector<const NoisySequence*> batch;
    std::vector<SamplingParams> params;
    std::vector<RowSampling> sampling;
    for (size_t i = 0; i < rows; ++i) {
      batch.push_back(&sequences[i]);
      const double temperature = std::array{1.0, 0.0, 0.3, 5.0, 1.0, 0.05}[(run + i) % 6];
      const double top_p = std::array{1.0, 0.95, 0.3, 0.999, 0.01}[(run / 2 + i) % 5];
      params.push_back({.temperature = temperature, .top_p = top_p});
      sampling.push_back({.scale = score_scale(temperature),
                          .top_p = temperature == 0 ? 1 : float(top_p),
                          .seed = uint64_t(run),
                          .draw = 1000 * i});
    }
    const Steps got = decode(decoder, batch, Sequences::kSteps, {}, sampling, known);
    for (int step = 0; step < Sequences::kSteps; ++step) {
      for (size_t i = 0; i < rows; ++i, ++drawn) {
        const size_t at = step * rows + i;
        const auto row = std::span(got.logits).subspan(at * vocab, known ? known : vocab);
        const int32_t want = sample_token(row, params[i], uint64_t(run), 1000 * i + step);
        if (got.tokens[at] == want) continue;
        // Only a token on the very edge of top_p may be in for one and out for the other.
        ++differing;
        EXPECT_LT(params[i].top_p, 1) << "row " << i << " of " << rows << ", step " << step << ": "
                                      << got.tokens[at] << ", not " << want;
      }
    }
  }
  std::cout << differing << " of " << drawn << " draws differ\n";
  EXPECT_LE(differing, drawn / 100);
}

}  // namespace
}  // namespace nmc::cuda
