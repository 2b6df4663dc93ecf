#include "runtime/format/synthetic_rule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/base/hash.h"

namespace nmc {
namespace {

constexpr double kLogitSpread = 6;   // about the standard deviation of the logits
constexpr double kBlockShare = 0.3;  // of the embedding's size, what all layers together add

// The largest power of two that is not above `x`.
float power_of_two(double x) {
  return static_cast<float>(std::ldexp(1.0, std::ilogb(x)));
}

// The first of 2 layer + 1, 2 layer + 3, ... that has no factor in common with the experts, so
// every layer permutes the directions.
int64_t router_step(int64_t layer, int64_t experts) {
  int64_t step = 2 * layer + 1;
  while (std::gcd(step, experts) != 1) step += 2;
  return step;
}

}  // namespace

SyntheticRule::SyntheticRule(const ModelDescription& m) {
  auto hidden = static_cast<double>(m.hidden);
  auto chosen = static_cast<double>(std::max<int64_t>(m.experts_per_token, 1));
  double size = kLogitSpread / (std::abs(m.logit_scale) * std::sqrt(hidden));
  SyntheticConstants& c = constants_;
  c.hidden = m.hidden;
  c.experts = m.experts;
  c.chosen = m.experts_per_token;
  c.direction_step = power_of_two(size / (4 * std::sqrt(2 * chosen)));
  c.embedding_noise = c.direction_step * 4 * power_of_two(std::sqrt(3 * chosen));
  c.router_gain = static_cast<float>(3 * std::sqrt(chosen) / hidden);
  c.router_noise = power_of_two(static_cast<double>(c.router_gain) / 4);
  output_gain_ = kBlockShare * size / std::sqrt(static_cast<double>(m.layers.size()));
  head_gain_ = kLogitSpread / std::abs(m.logit_scale);

  // From number 1 on: number 0 is constant, which a mean-subtracting norm would remove.
  signs_.resize(static_cast<size_t>(m.experts * m.hidden));
  for (int64_t j = 0; j < m.experts; ++j) {
    for (int64_t k = 0; k < m.hidden; ++k) {
      signs_[static_cast<size_t>(j * m.hidden + k)] =
          static_cast<int8_t>(walsh_sign(static_cast<uint64_t>(1 + j), static_cast<uint64_t>(k)));
    }
  }
}

uint64_t SyntheticRule::directions_seed() {
  constexpr std::string_view kName = "directions";
  return xxh3_64(kName.data(), kName.size());
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
    t.step = router_step(t.layer, constants_.experts);
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
    out[i] = t.kind == Kind::kPlain ? synthetic_plain(t, index + i) : synthetic_norm(t, index + i);
  }
}

void SyntheticRule::fill_router(const SyntheticTensor& t, uint64_t row, std::span<Bf16> out) const {
  const int8_t* sign = signs(router_direction(constants_, t, static_cast<int64_t>(row)));
  uint64_t index = row * out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = synthetic_router(constants_, t, index + i, sign[i]);
  }
}

void SyntheticRule::fill_embedding(const SyntheticTensor& t, uint64_t row,
                                   std::span<Bf16> out) const {
  std::vector<int32_t> sum(out.size());
  int64_t drawn = 0;
  for (int64_t direction : directions(row)) {
    const int32_t strength = direction_strength(drawn++);
    const int8_t* sign = signs(direction);
    for (size_t i = 0; i < out.size(); ++i) sum[i] += strength * sign[i];
  }
  uint64_t index = row * out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = synthetic_embedding(constants_, t, index + i, sum[i]);
  }
}

std::vector<int64_t> SyntheticRule::directions(uint64_t token) const {
  const uint64_t seed = directions_seed();
  std::vector<int64_t> drawn;
  for (uint64_t i = 0; static_cast<int64_t>(drawn.size()) < constants_.chosen; ++i) {
    const int64_t d = direction_candidate(constants_, seed, token, i);
    if (std::find(drawn.begin(), drawn.end(), d) == drawn.end()) drawn.push_back(d);
  }
  return drawn;
}

int64_t SyntheticRule::direction_of(int64_t layer, int64_t expert) const {
  SyntheticTensor router;
  router.layer = layer;
  router.step = router_step(layer, constants_.experts);
  return router_direction(constants_, router, expert);
}

}  // namespace nmc
