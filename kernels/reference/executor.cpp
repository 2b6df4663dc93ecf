// Reference, not fast: the layers of a model one after the other, over all tokens of a batch.
#include "kernels/reference/executor.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/reference/layer.h"
#include "kernels/reference/linear.h"

namespace nmc::reference {
namespace {

class ReferenceExecutor : public Executor {
 public:
  ReferenceExecutor(std::shared_ptr<const ModelFile> file, KvCapacity capacity,
                    ReferenceOptions options)
      : file_(std::move(file)),
        weights_(find_weights(*file_)),
        capacity_(capacity),
        kv_(file_->model(), capacity),
        options_(std::move(options)) {}

  std::string name() const override { return "reference"; }
  const ModelDescription& model() const override { return file_->model(); }
  KvCapacity kv_capacity() const override { return capacity_; }

  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    Pass pass{.model = model(),
              .operations = options_.operations,
              .tap = options_.tap,
              .kv = &kv_,
              .tokens = {}};
    std::vector<int32_t> tokens;
    std::vector<int64_t> wanted;  // rows of `x` whose logits the caller wants
    for (const SequenceStep& step : batch) {
      assert(!step.tokens.empty());
      for (size_t i = 0; i < step.tokens.size(); ++i) {
        const bool last = i + 1 == step.tokens.size();
        if (step.logits == LogitsWanted::kAll || (step.logits == LogitsWanted::kLast && last)) {
          wanted.push_back(static_cast<int64_t>(tokens.size()));
        }
        pass.tokens.push_back({&step, step.first + static_cast<int64_t>(i)});
        tokens.push_back(step.tokens[i]);
      }
    }
    Rows x = options_.operations.embed(weights_.embedding, tokens);
    pass.report("embedding", -1, x);
    for (size_t layer = 0; layer < weights_.layers.size(); ++layer) {
      x = run_layer(pass, static_cast<int64_t>(layer), weights_.layers[layer], x);
    }
    return finish(pass, x, wanted, logits);
  }

  // The number is raised with every change that changes bits.
  std::string page_format() const override { return "reference 1"; }
  uint64_t page_bytes(KvPool pool) const override { return kv_.page_bytes(pool); }
  Status read_page(KvPool pool, int32_t page, std::span<uint8_t> to) override {
    kv_.read_page(pool, page, to);
    return {};
  }
  Status write_page(KvPool pool, int32_t page, std::span<const uint8_t> from) override {
    kv_.write_page(pool, page, from);
    return {};
  }

 private:
  Status finish(const Pass& pass, const Rows& x, std::span<const int64_t> wanted,
                std::vector<float>* logits) const {
    logits->clear();
    if (wanted.empty()) return {};
    Rows last(static_cast<int64_t>(wanted.size()), x.cols());
    for (int64_t i = 0; i < last.rows(); ++i) {
      std::ranges::copy(x.row(wanted[static_cast<size_t>(i)]), last.row(i).begin());
    }
    const Rows h = options_.operations.norm(last, weights_.final_norm, model());
    pass.report("final_norm", -1, h);
    Rows scores = linear(h, weights_.head);
    for (double& v : scores.values()) v *= model().logit_scale;
    pass.report("logits", -1, scores);
    logits->assign(scores.values().begin(), scores.values().end());
    for (int64_t i = 0; i < scores.rows(); ++i) {
      if (std::ranges::all_of(scores.row(i), [](double v) { return std::isfinite(v); })) continue;
      const TokenPlace& place = pass.tokens[static_cast<size_t>(wanted[static_cast<size_t>(i)])];
      return internal_error("the logits at position " + std::to_string(place.position) +
                            " are not finite: the weights overflow, or a key was read that was "
                            "never written");
    }
    return {};
  }

  std::shared_ptr<const ModelFile> file_;
  ModelWeights weights_;
  KvCapacity capacity_;
  KvStore kv_;
  ReferenceOptions options_;
};

}  // namespace

std::unique_ptr<Executor> create_reference_executor(std::shared_ptr<const ModelFile> file,
                                                    KvCapacity capacity, ReferenceOptions options) {
  return std::make_unique<ReferenceExecutor>(std::move(file), capacity, std::move(options));
}

}  // namespace nmc::reference
