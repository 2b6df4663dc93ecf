#include "convert/synthetic_rule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "runtime/base/hash.h"

namespace nmc {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr double kLogitSpread = 6;   // about the standard deviation of the logits
constexpr double kBlockShare = 0.3;  // of the embedding's size, what all layers together add

// The largest power of two that is not above `x`. Products with it are exact, so a fused
// multiply-add gives the same bits as a product and a sum.
float power_of_two(double x) {
  return static_cast<float>(std::ldexp(1.0, std::ilogb(x)));
}

// The hash of element `index`, and its upper 24 bits as a number in [-1, 1); exact in float.
uint64_t hash_at(uint64_t seed, uint64_t index) {
  return splitmix64(seed + index * kGolden);
}
float unit(uint64_t hash) {
  return static_cast<float>(static_cast<int32_t>(hash >> 40) - (1 << 23)) * 0x1p-23f;
}

}  // namespace

SyntheticRule::SyntheticRule(const ModelDescription& m)
    : hidden_(m.hidden), experts_(m.experts), chosen_(m.experts_per_token) {
  auto hidden = static_cast<double>(hidden_);
  auto chosen = static_cast<double>(std::max<int64_t>(chosen_, 1));
  double size = kLogitSpread / (std::abs(m.logit_scale) * std::sqrt(hidden));
  direction_step_ = power_of_two(size / (4 * std::sqrt(2 * chosen)));
  embedding_noise_ = direction_step_ * 4 * power_of_two(std::sqrt(3 * chosen));
  router_gain_ = static_cast<float>(3 * std::sqrt(chosen) / hidden);
  router_noise_ = power_of_two(static_cast<double>(router_gain_) / 4);
  output_gain_ = kBlockShare * size / std::sqrt(static_cast<double>(m.layers.size()));
  head_gain_ = kLogitSpread / std::abs(m.logit_scale);

  // Walsh functions 1, 2, ...: orthogonal over a whole period, so one direction does not excite
  // the expert of another. Number 0 is constant, which a mean-subtracting norm would remove.
  signs_.resize(static_cast<size_t>(experts_ * hidden_));
  for (int64_t j = 0; j < experts_; ++j) {
    for (int64_t k = 0; k < hidden_; ++k) {
      int ones = std::popcount(static_cast<uint64_t>((1 + j) & k));
      signs_[static_cast<size_t>(j * hidden_ + k)] = ones % 2 ? -1 : 1;
    }
  }
}

SyntheticTensor SyntheticRule::tensor(const std::string& name, uint64_t cols) const {
  using Kind = SyntheticTensor::Kind;
  SyntheticTensor t;
  t.seed = xxh3_64(name.data(), name.size());
  double gain = 1;
  if (name.ends_with(".input_layernorm.weight")) {
    t.kind = Kind::kNorm;
  } else if (name == "model.norm.weight") {
    t.kind = Kind::kFinalNorm;
  } else if (name == "model.embed_tokens.weight") {
    t.kind = Kind::kEmbedding;
  } else if (name.ends_with(".mlp.gate.weight")) {
    t.kind = Kind::kRouter;
    t.layer = std::stoll(name.substr(sizeof "model.layers." - 1));
  } else if (name == "lm_head.weight") {
    gain = head_gain_;
  } else if (name.ends_with(".o_proj.weight") || name.ends_with(".down_proj.weight")) {
    gain = output_gain_;
  }
  t.scale = static_cast<float>(gain * std::sqrt(3.0 / static_cast<double>(cols)));
  return t;
}

void SyntheticRule::fill_row(const SyntheticTensor& t, uint64_t row, std::span<Bf16> out) const {
  using Kind = SyntheticTensor::Kind;
  if (t.kind == Kind::kRouter) return fill_router(t, row, out);
  if (t.kind == Kind::kEmbedding) return fill_embedding(t, row, out);
  uint64_t index = row * out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t hash = hash_at(t.seed, index + i);
    float u = unit(hash);
    if (t.kind == Kind::kPlain) {
      out[i] = float_to_bf16(t.scale * u);
    } else {
      bool negative = t.kind == Kind::kFinalNorm && hash % 2 == 1;
      float weight = 1 + 0.125f * u;
      out[i] = float_to_bf16(negative ? -weight : weight);
    }
  }
}

void SyntheticRule::fill_router(const SyntheticTensor& t, uint64_t row, std::span<Bf16> out) const {
  const int8_t* sign = signs(direction_of(t.layer, static_cast<int64_t>(row)));
  uint64_t index = row * out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    float noise = router_noise_ * unit(hash_at(t.seed, index + i));
    out[i] = float_to_bf16(router_gain_ * static_cast<float>(sign[i]) + noise);
  }
}

void SyntheticRule::fill_embedding(const SyntheticTensor& t, uint64_t row,
                                   std::span<Bf16> out) const {
  std::vector<int32_t> sum(out.size());
  int32_t drawn = 0;
  for (int64_t direction : directions(row)) {
    // Three strengths, so that a token's experts get different weights.
    int32_t strength = 3 + drawn++ % 3;
    const int8_t* sign = signs(direction);
    for (size_t i = 0; i < out.size(); ++i) sum[i] += strength * sign[i];
  }
  uint64_t index = row * out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    float noise = embedding_noise_ * unit(hash_at(t.seed, index + i));
    out[i] = float_to_bf16(direction_step_ * static_cast<float>(sum[i]) + noise);
  }
}

std::vector<int64_t> SyntheticRule::directions(uint64_t token) const {
  constexpr std::string_view kName = "directions";
  uint64_t state = hash_at(xxh3_64(kName.data(), kName.size()), token);
  std::vector<int64_t> drawn;
  for (uint64_t i = 0; static_cast<int64_t>(drawn.size()) < chosen_; ++i) {
    auto d = static_cast<int64_t>((hash_at(state, i) >> 32) % static_cast<uint64_t>(experts_));
    if (std::find(drawn.begin(), drawn.end(), d) == drawn.end()) drawn.push_back(d);
  }
  return drawn;
}

int64_t SyntheticRule::direction_of(int64_t layer, int64_t expert) const {
  int64_t step = 2 * layer + 1;
  while (std::gcd(step, experts_) != 1) step += 2;
  return (step * expert + 7 * layer) % experts_;
}

}  // namespace nmc
