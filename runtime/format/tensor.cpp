#include "runtime/format/tensor.h"

#include <cassert>

namespace nmc {
namespace {

uint64_t u(int64_t v) {
  return static_cast<uint64_t>(v);
}

// Builds specs of one section after the other.
class Builder {
 public:
  explicit Builder(const ModelDescription& model) : model_(model) {}

  void vector(const std::string& name, int64_t cols) {
    add({.name = prefix_ + name, .layout = TensorLayout::kVector, .cols = u(cols)});
  }
  void matrix(const std::string& name, int64_t rows, int64_t cols, int64_t count = 1) {
    add({.name = prefix_ + name, .count = u(count), .rows = u(rows), .cols = u(cols)});
  }
  void gate_up(const std::string& name, int64_t width, int64_t count = 1) {
    add({.name = prefix_ + name,
         .order = RowOrder::kGateUp,
         .count = u(count),
         .rows = 2 * u(width),
         .cols = u(model_.hidden)});
  }
  void qkv() {
    add({.name = prefix_ + "qkv",
         .order = RowOrder::kQkv,
         .row_block = qkv_row_block(model_),
         .rows = u(model_.q_width() + 2 * model_.kv_width()),
         .cols = u(model_.hidden)});
  }
  void start_section(std::string prefix) {
    if (!specs_.empty()) ++section_;
    prefix_ = std::move(prefix);
  }
  std::vector<TensorSpec> take() { return std::move(specs_); }

 private:
  void add(TensorSpec spec) {
    spec.section = section_;
    specs_.push_back(std::move(spec));
  }

  const ModelDescription& model_;
  std::string prefix_;
  uint32_t section_ = 0;
  std::vector<TensorSpec> specs_;
};

void add_layer(const ModelDescription& m, size_t index, Builder& b) {
  bool sparse = m.layers[index].sparse;
  b.start_section("layers." + std::to_string(index) + ".");
  b.vector("norm", m.hidden);
  if (sparse) b.matrix("router", m.experts, m.hidden);
  b.qkv();
  if (sparse)
    b.gate_up("experts.gate_up", m.expert_width, m.experts);
  else
    b.gate_up("gate_up", m.dense_width);
  if (sparse && m.shared_experts > 0) b.gate_up("shared.gate_up", m.shared_width());
  b.matrix("o", m.hidden, m.q_width());
  if (sparse)
    b.matrix("experts.down", m.hidden, m.expert_width, m.experts);
  else
    b.matrix("down", m.hidden, m.dense_width);
  if (sparse && m.shared_experts > 0) b.matrix("shared.down", m.hidden, m.shared_width());
}

}  // namespace

uint64_t TensorSpec::padded_rows() const {
  return layout == TensorLayout::kVector ? 1 : u(nmc::padded_rows(static_cast<int64_t>(rows)));
}
uint64_t TensorSpec::padded_cols() const {
  return layout == TensorLayout::kVector ? cols : u(nmc::padded_cols(static_cast<int64_t>(cols)));
}
uint64_t TensorSpec::matrix_bytes() const {
  return padded_rows() * padded_cols() * sizeof(Bf16);
}

RowMap row_map(const TensorSpec& spec, const ModelDescription& model) {
  if (spec.order != RowOrder::kQkv) return {.order = spec.order};
  return {spec.order, spec.row_block, model.group(), model.head_dim};
}

RowSource row_source(const TensorSpec& spec, const ModelDescription& model, int64_t row) {
  assert(row >= 0 && u(row) < spec.rows);
  return row_map(spec, model).source(row);
}

uint32_t qkv_row_block(const ModelDescription& model) {
  for (int64_t block = 2; block <= model.head_dim; block += 2) {
    bool whole_groups = (model.group() + 2) * block % kAtomRows == 0;
    if (whole_groups && model.head_dim % block == 0) return static_cast<uint32_t>(block);
  }
  return 2;
}

std::vector<TensorSpec> expected_tensors(const ModelDescription& model) {
  Builder b(model);
  for (size_t i = 0; i < model.layers.size(); ++i) add_layer(model, i, b);
  b.start_section("");
  b.vector("final_norm", model.hidden);
  b.matrix(model.tied_head ? "embedding" : "head", model.vocab, model.hidden);
  if (!model.tied_head) {
    b.start_section("");
    b.matrix("embedding", model.vocab, model.hidden);
  }
  return b.take();
}

}  // namespace nmc
