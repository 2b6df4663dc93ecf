// One thread of the plan: what is its own, and the operations it runs on it.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/exchange.h"
#include "kernels/cpu/instructions.h"
#include "kernels/cpu/kv_pages.h"
#include "kernels/cpu/step.h"
#include "kernels/cpu/step_trace.h"
#include "runtime/format/model_file.h"
#include "runtime/plan/plan.h"

namespace nmc::cpu {

// What all workers share. Between two steps only the executor's caller touches it.
struct Shared {
  const ModelFile& file;
  const ModelDescription& model;
  const plan::Plan& plan;
  const Kernels& kernels;
  std::vector<const Bf16*> weights;  // [plan.tensors]: in the mapped file
  const Bf16* embedding;             // [vocab, hidden] in tile order
  Exchange exchange;
  KvPages kv;
  Counters counters;
  Step step;
  StepTrace* trace;    // [workers]: each worker writes its own; null: not wanted
  uint32_t epoch = 0;  // steps before this one

  // The 8-row group `group` of matrix `matrix` (expert) of a task's tensor.
  const Bf16* group(const plan::Task& task, size_t group, size_t matrix = 0) const {
    const TensorSpec& t = plan.tensors[task.tensor];
    return weights[task.tensor] + matrix * t.padded_rows() * t.padded_cols() +
           group * static_cast<size_t>(kAtomRows) * t.padded_cols();
  }
  size_t rows() const { return step.rows.size(); }
};

// A use of an expert by a row.
struct ExpertUse {
  size_t row = 0;
  size_t slot = 0;  // among the row's experts in ascending order: its place in Exchange::hidden
  float weight = 0;
};

// An expert that some row of the step uses.
struct ActiveExpert {
  size_t expert = 0;
  std::vector<ExpertUse> uses;  // in the order of the rows
};

struct Worker {
  Worker(Shared* shared, uint32_t index);

  Shared& shared;
  uint32_t index;
  size_t own_rows;  // of the residual: 8 * its groups

  Matrix<Bf16> normed;                // [batch, hidden]: the operand of a layer's products
  std::vector<ActiveExpert> experts;  // of this layer, ascending: the rank is the index
  size_t active = 0;                  // of them
  Matrix<float> residual;             // [batch, own rows]
  Matrix<float> attention_sum;        // [batch, own rows]: o times the attention output
  Matrix<float> mlp_sum;              // [batch, own rows]: routed experts, or the dense MLP
  Matrix<float> shared_sum;           // [batch, own rows]: the shared expert

  // Scratch of one operation.
  std::vector<const Bf16*> operands;
  std::vector<float> sums;

  void poison();
};

// Runs the whole list once. All workers of a plan must be running.
// `delay`: 0, or the seed of random pauses before tasks (tests).
void run_step(Worker* worker, uint64_t delay);

// One operation each; `task` is of this worker's list. Defined in files of their names.
void run_embed(Worker& w, const plan::Task& task);
void run_norm(Worker& w, const plan::Task& task);
void run_router(Worker& w, const plan::Task& task);
void run_qkv(Worker& w, const plan::Task& task);
void run_attention(Worker& w, const plan::Task& task);
void run_merge(Worker& w, const plan::Task& task);
void run_route(Worker& w, const plan::Task& task);
void run_up(Worker& w, const plan::Task& task);  // dense and shared
void run_expert_up(Worker& w, const plan::Task& task);
void run_output(Worker& w, const plan::Task& task);
void run_down(Worker& w, const plan::Task& task);  // dense and shared
void run_expert_down(Worker& w, const plan::Task& task);
void run_publish(Worker& w, const plan::Task& task);
void run_head(Worker& w, const plan::Task& task);

}  // namespace nmc::cpu
