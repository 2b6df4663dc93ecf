#include "tools/eval/run.h"

#include <algorithm>
#include <cassert>

#include "kernels/open.h"
#include "runtime/base/interrupt.h"
#include "runtime/cache/sequence_pages.h"

namespace nmc {
namespace {

constexpr int64_t kMaxChunk = 512;
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
      const auto size = std::min(static_cast<size_t>(runner_->chunk_), tokens.size());
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

Result<SequenceRunner> SequenceRunner::open(const std::string& device,
                                            std::shared_ptr<const ModelFile> file, int64_t tokens) {
  const ModelDescription& model = file->model();
  const int64_t chunk = std::clamp<int64_t>(kMaxChunkLogits / model.vocab, 1, kMaxChunk);
  KvLayout layout = make_kv_layout(model);
  const PageCounts pages = pages_for(layout, tokens, chunk);
  NMC_ASSIGN(auto executor,
             open_executor(device, std::move(file),
                           {.global_pages = pages.global, .sliding_pages = pages.sliding}));
  return SequenceRunner(std::move(executor), std::move(layout), chunk);
}

Status SequenceRunner::run(std::span<const int32_t> tokens, const Visit& visit) {
  return Feed(this).feed(tokens, LogitsWanted::kAll, visit);
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
