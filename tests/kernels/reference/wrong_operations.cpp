#include "tests/kernels/reference/wrong_operations.h"

#include <algorithm>
#include <cmath>

namespace nmc::test {

void half_split_rope(std::span<double> head, int64_t position, double theta) {
  const size_t half = head.size() / 2;
  std::vector<double> interleaved(head.size());
  for (size_t i = 0; i < half; ++i) {
    interleaved[2 * i] = head[i];
    interleaved[2 * i + 1] = head[half + i];
  }
  reference::rope(interleaved, position, theta);
  for (size_t i = 0; i < half; ++i) {
    head[i] = interleaved[2 * i];
    head[half + i] = interleaved[2 * i + 1];
  }
}

Rows mlp_reads_residual(const Rows& x, const Rows& n, const Branch& attention, const Branch& mlp) {
  return reference::parallel_block(x, n, attention, [&](const Rows&) { return mlp(x); });
}

Rows mlp_reads_attention_too(const Rows& x, const Rows& n, const Branch& attention,
                             const Branch& mlp) {
  return reference::parallel_block(x, n, attention, [&](const Rows& in) {
    Rows sum = attention(in);
    for (size_t i = 0; i < sum.values().size(); ++i) sum.values()[i] += in.values()[i];
    return mlp(sum);
  });
}

std::vector<ExpertChoice> softmax_over_all(std::span<const double> logits,
                                           const ModelDescription& model) {
  std::vector<ExpertChoice> choices = reference::route(logits, model);
  double sum = 0;
  for (double logit : logits) sum += std::exp(logit);
  for (ExpertChoice& c : choices) {
    c.weight = std::exp(logits[static_cast<size_t>(c.expert)]) / sum;
  }
  return choices;
}

std::vector<ExpertChoice> next_best_expert(std::span<const double> logits,
                                           const ModelDescription& model) {
  ModelDescription one_more = model;
  one_more.experts_per_token = std::min(model.experts, model.experts_per_token + 1);
  std::vector<ExpertChoice> choices = reference::route(logits, one_more);
  choices.erase(choices.begin());
  return choices;
}

Rows weight_on_input(const Rows& in, std::span<const double> scale, const MlpWeights& weights,
                     const ModelDescription& model) {
  Rows scaled = in;
  for (int64_t token = 0; token < in.rows(); ++token) {
    for (double& v : scaled.row(token)) v *= scale[static_cast<size_t>(token)];
  }
  return reference::mlp(scaled, weights, model);
}

Rows halve_shared_only(const Rows& routed, const Rows& shared, const ModelDescription&) {
  Rows out = routed;
  for (size_t i = 0; i < out.values().size(); ++i) out.values()[i] += shared.values()[i] / 2;
  return out;
}

void attention_of_hidden_width(const AttentionArgs& args, const KvView& kv,
                               const ModelDescription& model) {
  reference::attention(args, kv, model);
  for (size_t i = static_cast<size_t>(model.hidden); i < args.out.size(); ++i) args.out[i] = 0;
}

void interleaved_groups(const AttentionArgs& args, const KvView& kv,
                        const ModelDescription& model) {
  const auto dim = static_cast<size_t>(model.head_dim);
  auto place = [&](int64_t head) {
    const int64_t to = head % model.kv_heads * model.group() + head / model.kv_heads;
    return static_cast<size_t>(to) * dim;
  };
  std::vector<double> q(args.q.size()), out(args.out.size());
  for (int64_t head = 0; head < model.heads; ++head) {
    std::ranges::copy(args.q.subspan(static_cast<size_t>(head) * dim, dim),
                      q.begin() + static_cast<ptrdiff_t>(place(head)));
  }
  AttentionArgs permuted = args;
  permuted.q = q;
  permuted.out = out;
  reference::attention(permuted, kv, model);
  for (int64_t head = 0; head < model.heads; ++head) {
    std::ranges::copy(std::span(out).subspan(place(head), dim),
                      args.out.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(head) * dim));
  }
}

}  // namespace nmc::test
