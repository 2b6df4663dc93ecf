// What workers tell each other: one buffer per exchange of a layer, used again in every layer. The
// plan's counters say when a part may be read and when it may be written again.
#pragma once

#include <atomic>
#include <memory>

#include "kernels/cpu/matrix.h"
#include "runtime/model/description.h"
#include "runtime/plan/plan.h"

namespace nmc::cpu {

struct Exchange {
  Exchange(const ModelDescription& model, const plan::PlanSizes& sizes);

  Matrix<float> x;        // [batch, hidden]: the residual stream
  Matrix<float> logits;   // [batch, router slices * experts]
  Matrix<Bf16> query;     // [batch * heads, head_dim]
  Matrix<float> partial;  // [(batch * heads) * shares, head_dim]: sums of p v, not divided
  Matrix<float> weight;   // [(batch * heads) * shares, 2]: largest score, sum of p
  Matrix<Bf16> output;    // [batch, heads * head_dim]: attention output
  Matrix<Bf16> dense;     // [batch, dense width]: hidden units of a dense layer
  Matrix<Bf16> shared;    // [batch, shared width]
  Matrix<Bf16> hidden;    // [batch * experts per token, expert width]: by the token's own experts

  void poison();
};

// The counters of a plan, each on two cache lines of its own (processors fetch them in pairs).
class Counters {
 public:
  // `patience`: how often a waiting thread looks before it offers its core to others.
  Counters(size_t count, int patience)
      : values_(std::make_unique<Counter[]>(count)), patience_(patience) {}

  void add(uint32_t counter) { values_[counter].value.fetch_add(1, std::memory_order_release); }
  // Until the counter has reached `needed`, counters being numbers that wrap.
  void wait(uint32_t counter, uint32_t needed) const;

 private:
  struct alignas(128) Counter {
    std::atomic<uint32_t> value{0};
  };
  std::unique_ptr<Counter[]> values_;
  int patience_;
};

}  // namespace nmc::cpu
