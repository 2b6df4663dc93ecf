// Attention over shares of a sequence's tokens, and the merge of the shares. A share is walked page
// by page with a running maximum; its sums stay undivided until the merge.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cpu/exp.h"
#include "kernels/cpu/product.h"
#include "runtime/plan/attention_split.h"

namespace nmc::cpu {
namespace {

static_assert(plan::kTokensOfPage == kPageTokens);
constexpr size_t kPage = kPageTokens;

// One row's heads of one KV head, over one share.
class ShareSum {
 public:
  ShareSum(Worker& w, size_t layer, size_t row, size_t kv_head)
      : w_(w),
        s_(w.shared),
        layer_(layer),
        row_(row),
        kv_head_(kv_head),
        group_(static_cast<size_t>(s_.model.group())),
        dims_(s_.kv.atoms() * size_t{kAtomCols}),
        scale_(1.0f / std::sqrt(static_cast<float>(s_.model.head_dim))),
        scores_(group_ * kPage),
        page_sums_(group_ * dims_) {}

  void run(plan::TokenRange tokens, uint32_t share) {
    std::vector<float*> sums(group_), weights(group_);
    for (size_t h = 0; h < group_; ++h) {
      const size_t head = row_ * static_cast<size_t>(s_.model.heads) + kv_head_ * group_ + h;
      const size_t at = head * s_.plan.sizes.attention_shares + share;
      sums[h] = s_.exchange.partial.row(at);
      weights[h] = s_.exchange.weight.row(at);
      weights[h][0] = -std::numeric_limits<float>::infinity();
      weights[h][1] = 0;
      if (!tokens.empty()) std::fill_n(sums[h], s_.model.head_dim, 0.0f);
    }
    const StepRow& row = s_.step.rows[row_];
    const KvPool pool = s_.kv.layout().layers[layer_].pool;
    for (int64_t at = tokens.begin; at < tokens.end;) {
      const int64_t page_start = at / kPageTokens * kPageTokens;
      const auto begin = static_cast<size_t>(at - page_start);
      const auto end = static_cast<size_t>(std::min(tokens.end - page_start, kPageTokens));
      add_page(row.page(pool, at), begin, end, sums, weights);
      at = page_start + kPageTokens;
    }
  }

 private:
  void add_page(int32_t page, size_t begin, size_t end, const std::vector<float*>& sums,
                const std::vector<float*>& weights) {
    score(s_.kv.keys(layer_, page, kv_head_), begin, end);
    std::vector<float> shrink(group_);
    for (size_t h = 0; h < group_; ++h) {
      float* p = scores_.data() + h * kPage;
      float largest = weights[h][0];
      for (size_t t = begin; t < end; ++t) largest = std::max(largest, p[t]);
      shrink[h] = std::exp(weights[h][0] - largest);
      float sum = weights[h][1] * shrink[h];
      for (size_t t = begin; t < end; ++t) p[t] = exp_of_nonpositive(p[t] - largest);
      for (size_t t = begin; t < end; ++t) sum += p[t];
      weights[h][0] = largest;
      weights[h][1] = sum;
    }
    s_.kernels.weighted_sum(s_.kv.values(layer_, page, kv_head_), s_.kv.atoms(), begin, end,
                            scores_.data(), group_, page_sums_.data());
    const auto dim = static_cast<size_t>(s_.model.head_dim);
    for (size_t h = 0; h < group_; ++h) {
      const float* add = page_sums_.data() + h * dims_;
      for (size_t d = 0; d < dim; ++d) sums[h][d] = sums[h][d] * shrink[h] + add[d];
    }
  }

  // scores_ [group][64], of tokens [begin, end) alone. Keys lie like the rows of a weight.
  void score(const Bf16* keys, size_t begin, size_t end) {
    w_.operands.clear();
    for (size_t h = 0; h < group_; ++h) {
      w_.operands.push_back(s_.exchange.query.row(row_ * static_cast<size_t>(s_.model.heads) +
                                                  kv_head_ * group_ + h));
    }
    w_.sums.resize(group_ * kAtomRows);
    for (size_t g = begin / kAtomRows; g * kAtomRows < end; ++g) {
      s_.kernels.multiply(keys + g * s_.kv.atoms() * kAtomValues, s_.kv.atoms(), w_.operands.data(),
                          group_, w_.sums.data());
      for (size_t h = 0; h < group_; ++h) {
        for (size_t r = 0; r < kAtomRows; ++r) {
          scores_[h * kPage + g * kAtomRows + r] = scale_ * w_.sums[h * kAtomRows + r];
        }
      }
    }
  }

  Worker& w_;
  Shared& s_;
  size_t layer_, row_, kv_head_, group_, dims_;
  float scale_;
  std::vector<float> scores_, page_sums_;
};

}  // namespace

void run_attention(Worker& w, const plan::Task& task) {
  const Shared& s = w.shared;
  const int64_t window = s.model.layers[task.layer].window;
  for (size_t row = 0; row < s.rows(); ++row) {
    ShareSum sum(w, task.layer, row, task.head);
    for (uint32_t share = task.first; share < task.first + task.count; ++share) {
      sum.run(plan::tokens_of_share(s.step.rows[row].position, window, share,
                                    s.plan.sizes.attention_shares),
              share);
    }
  }
}

// Dims [first, first + count) of the attention output: shares in ascending order, scaled to their
// common maximum.
void run_merge(Worker& w, const plan::Task& task) {
  Shared& s = w.shared;
  const auto dim = static_cast<size_t>(s.model.head_dim);
  const size_t shares = s.plan.sizes.attention_shares;
  std::vector<float> factors(shares);
  for (size_t row = 0; row < s.rows(); ++row) {
    for (size_t at = task.first; at < task.first + task.count;) {
      const size_t head = at / dim,
                   end = std::min<size_t>(task.first + task.count, (head + 1) * dim);
      const size_t first = (row * static_cast<size_t>(s.model.heads) + head) * shares;
      float largest = -std::numeric_limits<float>::infinity(), total = 0;
      for (size_t j = 0; j < shares; ++j) {
        largest = std::max(largest, s.exchange.weight.row(first + j)[0]);
      }
      for (size_t j = 0; j < shares; ++j) {
        const float* weight = s.exchange.weight.row(first + j);
        factors[j] = weight[1] > 0 ? std::exp(weight[0] - largest) : 0.0f;
        total += factors[j] * weight[1];
      }
      for (; at < end; ++at) {
        float sum = 0;
        for (size_t j = 0; j < shares; ++j) {
          if (factors[j] > 0) sum += factors[j] * s.exchange.partial.row(first + j)[at % dim];
        }
        s.exchange.output.row(row)[at] = float_to_bf16(sum / total);
      }
    }
  }
}

}  // namespace nmc::cpu
