// Operations that compute something plausible and wrong.
#pragma once

#include "kernels/reference/operations.h"

namespace nmc::test {

using reference::AttentionArgs;
using reference::Branch;
using reference::ExpertChoice;
using reference::KvView;
using reference::MlpWeights;
using reference::Rows;

// Pairs (i, i + size / 2), as Llama rotates.
void half_split_rope(std::span<double> head, int64_t position, double theta);

Rows mlp_reads_residual(const Rows& x, const Rows& n, const Branch& attention, const Branch& mlp);

Rows mlp_reads_attention_too(const Rows& x, const Rows& n, const Branch& attention,
                             const Branch& mlp);

// The softmax over all experts, not over the chosen ones.
std::vector<ExpertChoice> softmax_over_all(std::span<const double> logits,
                                           const ModelDescription& model);

std::vector<ExpertChoice> next_best_expert(std::span<const double> logits,
                                           const ModelDescription& model);

// The weight multiplies what goes into the expert. (On the way into down it would change nothing:
// down is linear.)
Rows weight_on_input(const Rows& in, std::span<const double> scale, const MlpWeights& weights,
                     const ModelDescription& model);

Rows halve_shared_only(const Rows& routed, const Rows& shared, const ModelDescription&);

// Heads beyond the width of the stream are never filled.
void attention_of_hidden_width(const AttentionArgs& args, const KvView& kv,
                               const ModelDescription& model);

// Query head h reads KV head h mod kv_heads.
void interleaved_groups(const AttentionArgs& args, const KvView& kv, const ModelDescription& model);

}  // namespace nmc::test
