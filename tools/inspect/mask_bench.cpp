#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "runtime/base/text.h"
#include "runtime/text/grammar/local_mask.h"
#include "tools/inspect/grammar.h"

namespace nmc {
namespace {

constexpr size_t kMasks = 2000;      // timed
constexpr size_t kWalkTokens = 200;  // then a new text begins

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Any allowed token that goes on; -1 when only the end is allowed.
int32_t draw(std::span<const uint32_t> mask, const GrammarVocabulary& vocabulary,
             std::mt19937& random) {
  std::vector<int32_t> allowed;
  for (int32_t id = 0; static_cast<size_t>(id) < vocabulary.trie().vocab_size(); ++id) {
    if (is_allowed(mask, id) && std::ranges::count(vocabulary.end_tokens(), id) == 0) {
      allowed.push_back(id);
    }
  }
  return allowed.empty() ? -1 : allowed[random() % allowed.size()];
}

// Microseconds of every mask, sorted.
std::vector<double> walk(const std::shared_ptr<Grammar>& grammar) {
  const GrammarVocabulary& vocabulary = grammar->vocabulary();
  std::vector<uint32_t> mask(vocabulary.trie().mask_words());
  std::vector<double> times;
  std::mt19937 random(1);
  while (times.size() < kMasks) {
    GrammarMatcher matcher(grammar);
    for (size_t i = 0; i < kWalkTokens && times.size() < kMasks; ++i) {
      const auto start = Clock::now();
      matcher.fill_mask(mask);
      times.push_back(microseconds_since(start));
      const int32_t token = draw(mask, vocabulary, random);
      if (token < 0) break;
      matcher.accept_token(token);
    }
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace

Result<std::string> bench_masks(const Json& schema,
                                const std::shared_ptr<const GrammarVocabulary>& vocabulary) {
  const auto start = Clock::now();
  NMC_ASSIGN(const auto grammar, compile_schema(schema, vocabulary));
  const double compiled = microseconds_since(start);
  const std::vector<double> times = walk(grammar);
  return format(
      "compiled in %.2f ms; %zu masks over %zu tokens: median %.2f us, p99 %.2f us, "
      "slowest %.2f us\n",
      compiled / 1000, times.size(), vocabulary->trie().vocab_size(), times[times.size() / 2],
      times[times.size() * 99 / 100], times.back());
}

}  // namespace nmc
