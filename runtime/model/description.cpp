#include "runtime/model/description.h"

namespace nmc {
namespace {

uint64_t count(const ModelDescription& m, int64_t experts_read) {
  auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  uint64_t total = u(m.vocab) * u(m.hidden) * (m.tied_head ? 1 : 2) + u(m.hidden);
  for (const LayerDescription& layer : m.layers) {
    total += u(m.hidden) * (1 + 2 * u(m.q_width()) + 2 * u(m.kv_width()));
    if (layer.sparse) {
      total += u(m.hidden) * u(m.experts);
      total += 3 * u(m.hidden) * (u(experts_read) * u(m.expert_width) + u(m.shared_width()));
    } else {
      total += 3 * u(m.hidden) * u(m.dense_width);
    }
  }
  return total;
}

}  // namespace

uint64_t ModelDescription::parameters() const {
  return count(*this, experts);
}

uint64_t ModelDescription::active_parameters() const {
  uint64_t n = count(*this, experts_per_token);
  // Of an untied embedding a token reads one row.
  if (!tied_head) n -= static_cast<uint64_t>(vocab - 1) * static_cast<uint64_t>(hidden);
  return n;
}

}  // namespace nmc
