#include "kernels/cpu/exchange.h"

#include <limits>
#include <thread>

namespace nmc::cpu {

Exchange::Exchange(const ModelDescription& model, const plan::PlanSizes& sizes)
    : x(sizes.batch, model.hidden),
      logits(sizes.batch, sizes.router_slices * model.experts),
      query(sizes.batch * model.heads, model.head_dim),
      partial(sizes.batch * model.heads * sizes.attention_shares, model.head_dim),
      weight(sizes.batch * model.heads * sizes.attention_shares, 2),
      output(sizes.batch, model.q_width()),
      dense(sizes.batch, model.dense_width),
      shared(sizes.batch, model.shared_width()),
      hidden(sizes.batch * model.experts_per_token, model.expert_width) {}

void Exchange::poison() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Bf16 nan = float_to_bf16(kNan);
  for (Matrix<float>* m : {&x, &logits, &partial, &weight}) m->poison(kNan);
  for (Matrix<Bf16>* m : {&query, &output, &dense, &shared, &hidden}) m->poison(nan);
}

void Counters::wait(uint32_t counter, uint32_t needed) const {
  const std::atomic<uint32_t>& value = values_[counter].value;
  for (int looks = 0; static_cast<int32_t>(value.load(std::memory_order_acquire) - needed) < 0;
       ++looks) {
    if (looks < patience_) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace nmc::cpu
