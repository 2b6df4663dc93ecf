// Times of constrained decoding on a vocabulary of 262,144 tokens: compiling each grammar, and the
// mask of every token of typical answers. docs/grammar.md has the figures.
//
//   grammar_bench [NAME...]    only the cases whose names hold one of these
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>

#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/local_mask.h"
#include "tests/runtime/text/grammar/bench_vocabulary.h"
#include "tests/runtime/text/grammar/grammar_cases.h"

namespace nmc {
namespace {

constexpr size_t kWalkMasks = 1000;
constexpr size_t kWalkTokens = 200;  // then a new text begins

// Of this thread, so that a busy machine does not blur the figures.
double microseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// The longest pieces, from the left.
std::vector<int32_t> tokenize(const GrammarVocabulary& vocabulary, std::string_view text) {
  const auto& nodes = vocabulary.trie().nodes();
  std::vector<int32_t> tokens;
  while (!text.empty()) {
    uint32_t n = 0;
    size_t best = 0;
    int32_t token = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      uint32_t child = n + 1;
      while (child < nodes[n].end && nodes[child].byte != static_cast<uint8_t>(text[i]))
        child = nodes[child].end;
      if (child >= nodes[n].end) break;
      n = child;
      vocabulary.trie().tokens_at(n, [&](int32_t t) {
        token = t;
        best = i + 1;
      });
    }
    tokens.push_back(token);
    text.remove_prefix(best);
  }
  return tokens;
}

class Bench {
 public:
  explicit Bench(std::shared_ptr<Grammar> grammar)
      : grammar_(std::move(grammar)), mask_(trie().mask_words()) {}

  // The masks along a text; false when it does not fit.
  bool read(const std::string& text) {
    GrammarMatcher matcher(grammar_);
    for (int32_t token : tokenize(grammar_->vocabulary(), text)) {
      fill(matcher);
      if (!matcher.accept_token(token)) return false;
    }
    return true;
  }
  // The masks along random texts.
  void walk() {
    std::mt19937 random(1);
    while (times_.size() < kWalkMasks) {
      GrammarMatcher matcher(grammar_);
      for (size_t i = 0; i < kWalkTokens && times_.size() < kWalkMasks; ++i) {
        fill(matcher);
        const int32_t token = draw(random);
        if (token < 0) break;
        matcher.accept_token(token);
      }
    }
  }
  void print(const std::string& name, const char* what) {
    std::sort(times_.begin(), times_.end());
    std::printf("%-20s %-6s %5zu masks  median %8.1f us  p99 %8.1f us  max %8.1f us\n",
                name.c_str(), what, times_.size(), times_[times_.size() / 2],
                times_[times_.size() * 99 / 100], times_.back());
    std::fflush(stdout);
    times_.clear();
  }

 private:
  const TokenTrie& trie() const { return grammar_->vocabulary().trie(); }

  void fill(GrammarMatcher& matcher) {
    const double start = microseconds();
    matcher.fill_mask(mask_);
    times_.push_back(microseconds() - start);
  }
  // Any allowed token that goes on; -1 when only the end is allowed.
  int32_t draw(std::mt19937& random) const {
    std::vector<int32_t> allowed;
    for (int32_t t = 0; static_cast<size_t>(t) + 1 < trie().vocab_size(); ++t) {
      if (is_allowed(mask_, t)) allowed.push_back(t);
    }
    return allowed.empty() ? -1 : allowed[random() % allowed.size()];
  }

  const std::shared_ptr<Grammar> grammar_;
  std::vector<uint32_t> mask_;
  std::vector<double> times_;
};

bool wanted(const std::string& name, int argc, char** argv) {
  return argc == 1 || std::any_of(argv + 1, argv + argc, [&](const char* part) {
           return name.find(part) != std::string::npos;
         });
}

int run(int argc, char** argv) {
  double start = microseconds();
  auto vocabulary = std::make_shared<const GrammarVocabulary>(
      bench_vocabulary(), std::vector<int32_t>{static_cast<int32_t>(kBenchVocabulary - 1)});
  std::printf("vocabulary: %zu tokens, %zu nodes, %.0f ms\n", vocabulary->trie().vocab_size(),
              vocabulary->trie().nodes().size(), (microseconds() - start) / 1000);
  for (const GrammarCase& c : grammar_cases()) {
    if (!wanted(c.name, argc, argv)) continue;
    start = microseconds();
    GrammarBuilder b;
    Result<RuleId> root = c.build(b);
    auto grammar = root.ok() ? Grammar::compile(b, *root, vocabulary) : root.status();
    if (!grammar.ok()) return std::printf("%s\n", grammar.status().message().c_str()), 1;
    std::printf("%-20s compile %.2f ms\n", c.name.c_str(), (microseconds() - start) / 1000);
    Bench bench(*grammar);
    for (const char* what : {"first", "again"}) {
      for (const std::string& text : c.texts) {
        if (!bench.read(text)) return std::printf("%s: a text does not fit\n", c.name.c_str()), 1;
      }
      bench.print(c.name, what);
    }
    bench.walk();
    bench.print(c.name, "walk");
  }
  return 0;
}

}  // namespace
}  // namespace nmc

int main(int argc, char** argv) {
  return nmc::run(argc, argv);
}
