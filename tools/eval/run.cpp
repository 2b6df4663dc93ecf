#include "tools/eval/run.h"

#include <algorithm>
#include <cassert>

#include "kernels/open.h"
#include "runtime/base/interrupt.h"
#include "runtime/cache/sequence_pages.h"

namespace nmc {
namespace {

constexpr int64_t kMaxChunk = 2048;
constexpr int64_t kMaxChunkLogits = 64 << 20;  // 256 MiB of float32

}  // namespace

// One sequence in progress: its pages, and how far it has come.
class SequenceRunner::Feed {
 public:
  explicit Feed(SequenceRunner* runner)
      : runner_(runner),
        global_(runner->executor_->kv_capacity().global_pages),
        sliding_(runner->executor_->kv_capacity().sliding_pages),
        pages_(runner->layout_, &global_, &sliding_) {}

  Status feed(std::span<const int32_t> tokens, LogitsWanted wanted, const Visit& visit) {
    while (!tokens.empty()) {
      if (interrupted()) return cancelled("interrupted");
      const int64_t chunk = wanted == LogitsWanted::kAll ? runner_->chunk_ : kMaxChunk;
      const auto size = std::min(static_cast<size_t>(chunk), tokens.size());
      // open() made room for the longest sequence.
      [[maybe_unused]] const bool grown = pages_.grow(position_ + static_cast<int64_t>(size));
      assert(grown);
      const SequenceStep step{.tokens = tokens.first(size),
                              .first = position_,
                              .global_pages = pages_.global(),
                              .sliding_pages = pages_.sliding(),
                              .logits = wanted};
      NMC_TRY(runner_->executor_->forward(std::span(&step, 1), &logits_));
      NMC_TRY(visit(position_, logits_));
      position_ += static_cast<int64_t>(size);
      pages_.release_before_window(position_);
      tokens = tokens.subspan(size);
    }
    return {};
  }

 private:
  SequenceRunner* runner_;
  PagePool global_, sliding_;
  SequencePages pages_;
  int64_t position_ = 0;
  std::vector<float> logits_;
};

SequenceRunner::SequenceRunner(const ModelDescription& model, int64_t tokens)
    : layout_(make_kv_layout(model)),
      chunk_(std::clamp<int64_t>(kMaxChunkLogits / model.vocab, 1, kMaxChunk)) {
  const PageCounts pages = pages_for(layout_, tokens, kMaxChunk);
  capacity_ = {.global_pages = pages.global, .sliding_pages = pages.sliding};
}

Result<SequenceRunner> SequenceRunner::open(const std::string& device,
                                            std::shared_ptr<const ModelFile> file, int64_t tokens) {
  SequenceRunner runner(file->model(), tokens);
  NMC_ASSIGN(runner.executor_, open_executor(device, std::move(file), runner.capacity_));
  return runner;
}

Result<SequenceRunner> SequenceRunner::open_synthetic(const std::string& device,
                                                      const ModelDescription& model,
                                                      int64_t tokens) {
  SequenceRunner runner(model, tokens);
  NMC_ASSIGN(runner.executor_, open_synthetic_executor(device, model, runner.capacity_));
  return runner;
}

Status SequenceRunner::run(std::span<const int32_t> tokens, int64_t last, const Visit& visit) {
  Feed feed(this);
  const size_t first = tokens.size() - std::min(tokens.size(), static_cast<size_t>(last));
  auto ignore = [](int64_t, std::span<const float>) { return Status(); };
  NMC_TRY(feed.feed(tokens.first(first), LogitsWanted::kNone, ignore));
  return feed.feed(tokens.subspan(first), LogitsWanted::kAll, visit);
}

Result<std::vector<int32_t>> SequenceRunner::continue_greedily(std::span<const int32_t> tokens,
                                                               int64_t count) {
  Feed feed(this);
  int32_t best = 0;
  auto choose = [&](int64_t, std::span<const float> logits) -> Status {
    best = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
    return {};
  };
  NMC_TRY(feed.feed(tokens, LogitsWanted::kLast, choose));
  std::vector<int32_t> chosen = {best};
  while (static_cast<int64_t>(chosen.size()) < count) {
    NMC_TRY(feed.feed(std::span(&chosen.back(), 1), LogitsWanted::kLast, choose));
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace nmc
