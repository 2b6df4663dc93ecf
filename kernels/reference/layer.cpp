#include "kernels/reference/layer.h"

#include <algorithm>

#include "kernels/reference/linear.h"

namespace nmc::reference {
namespace {

class LayerRun {
 public:
  LayerRun(const Pass& pass, int64_t index, const LayerWeights& weights)
      : pass_(pass),
        model_(pass.model),
        description_(pass.model.layers[static_cast<size_t>(index)]),
        index_(index),
        weights_(weights) {}

  Rows run(const Rows& x) const {
    const Rows n = reported("norm", pass_.operations.norm(x, weights_.norm, model_));
    return reported("residual",
                    pass_.operations.block(
                        x, n, [this](const Rows& in) { return attention_branch(in); },
                        [this](const Rows& in) { return reported("mlp", mlp_branch(in)); }));
  }

 private:
  Rows reported(std::string_view operation, Rows values) const {
    pass_.report(operation, index_, values);
    return values;
  }

  Rows attention_branch(const Rows& n) const {
    const int64_t widths[] = {model_.q_width(), model_.kv_width(), model_.kv_width()};
    std::vector<Rows> parts = linear_parts(n, weights_.qkv, model_, widths);
    if (description_.rope) {
      rotate(&parts[0]);
      rotate(&parts[1]);
    }
    const Rows q = reported("q", std::move(parts[0]));
    const Rows k = reported("k", std::move(parts[1]));
    const Rows v = reported("v", std::move(parts[2]));
    // Later tokens of a sequence see the earlier ones of the same call, so all are stored first.
    store(k, v);
    Rows attended(n.rows(), model_.q_width());
    for (int64_t i = 0; i < n.rows(); ++i) {
      pass_.operations.attention({.position = place(i).position,
                                  .window = description_.window,
                                  .q = q.row(i),
                                  .out = attended.row(i)},
                                 view(i), model_);
    }
    return reported("o", linear(reported("attention", std::move(attended)), weights_.o));
  }

  void rotate(Rows* heads) const {
    const auto dim = static_cast<size_t>(model_.head_dim);
    for (int64_t i = 0; i < heads->rows(); ++i) {
      std::span<double> row = heads->row(i);
      for (size_t at = 0; at < row.size(); at += dim) {
        pass_.operations.rope(row.subspan(at, dim), place(i).position, model_.rope_theta);
      }
    }
  }

  void store(const Rows& k, const Rows& v) const {
    const auto dim = static_cast<size_t>(model_.head_dim);
    for (int64_t i = 0; i < k.rows(); ++i) {
      for (int64_t head = 0; head < model_.kv_heads; ++head) {
        const size_t at = static_cast<size_t>(head) * dim;
        std::ranges::copy(k.row(i).subspan(at, dim), view(i).key(place(i).position, head).begin());
        std::ranges::copy(v.row(i).subspan(at, dim),
                          view(i).value(place(i).position, head).begin());
      }
    }
  }

  Rows mlp_branch(const Rows& n) const {
    if (!description_.sparse) return pass_.operations.mlp(n, weights_.mlps[0], model_);
    Rows routed = run_experts(n, choose(n));
    if (weights_.shared.empty()) return routed;
    return pass_.operations.combine_shared(
        routed, pass_.operations.mlp(n, weights_.shared[0], model_), model_);
  }

  // Per token, the experts it uses.
  std::vector<std::vector<ExpertChoice>> choose(const Rows& n) const {
    const Rows logits = reported("router_logits", linear(n, weights_.router));
    std::vector<std::vector<ExpertChoice>> choices;
    Rows indices(n.rows(), model_.experts_per_token), scales(n.rows(), model_.experts_per_token);
    for (int64_t i = 0; i < n.rows(); ++i) {
      choices.push_back(pass_.operations.route(logits.row(i), model_));
      for (size_t j = 0; j < choices.back().size(); ++j) {
        indices.row(i)[j] = static_cast<double>(choices.back()[j].expert);
        scales.row(i)[j] = choices.back()[j].weight;
      }
    }
    pass_.report("experts", index_, indices);
    pass_.report("expert_weights", index_, scales);
    return choices;
  }

  // Experts are added in the order of their index, whatever the batch.
  Rows run_experts(const Rows& n, const std::vector<std::vector<ExpertChoice>>& choices) const {
    Rows out(n.rows(), n.cols());
    for (int64_t e = 0; e < model_.experts; ++e) {
      std::vector<int64_t> users;
      std::vector<double> scale;
      for (size_t i = 0; i < choices.size(); ++i) {
        for (const ExpertChoice& c : choices[i]) {
          if (c.expert != e) continue;
          users.push_back(static_cast<int64_t>(i));
          scale.push_back(c.weight);
        }
      }
      if (users.empty()) continue;
      Rows in(static_cast<int64_t>(users.size()), n.cols());
      for (int64_t i = 0; i < in.rows(); ++i) {
        std::ranges::copy(n.row(users[static_cast<size_t>(i)]), in.row(i).begin());
      }
      const Rows part =
          pass_.operations.expert(in, scale, weights_.mlps[static_cast<size_t>(e)], model_);
      for (int64_t i = 0; i < in.rows(); ++i) {
        std::span<double> sum = out.row(users[static_cast<size_t>(i)]);
        for (size_t j = 0; j < sum.size(); ++j) sum[j] += part.row(i)[j];
      }
    }
    return out;
  }

  const TokenPlace& place(int64_t i) const { return pass_.tokens[static_cast<size_t>(i)]; }
  KvView view(int64_t i) const { return {pass_.kv, index_, *place(i).step}; }

  const Pass& pass_;
  const ModelDescription& model_;
  const LayerDescription& description_;
  int64_t index_;
  const LayerWeights& weights_;
};

}  // namespace

Rows run_layer(const Pass& pass, int64_t index, const LayerWeights& weights, const Rows& x) {
  return LayerRun(pass, index, weights).run(x);
}

}  // namespace nmc::reference
