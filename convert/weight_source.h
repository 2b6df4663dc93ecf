// Where the values of a model file come from: a checkpoint, or a formula.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/bf16.h"
#include "runtime/format/tensor.h"

namespace nmc {

// A run of whole 8-row groups of one stored matrix (the last may end early), or a whole vector: the
// unit of work of repacking and verification. One contiguous range of the stored tensor.
struct Piece {
  size_t tensor = 0;    // index into WeightSource::tensors()
  uint64_t matrix = 0;  // expert
  uint64_t first_row = 0, rows = 0;
  uint64_t offset = 0, bytes = 0;  // in the stored tensor, padding included
};

// Hands out the stored rows of a model in BF16. Immutable: any number of threads may read.
class WeightSource {
 public:
  explicit WeightSource(const ModelDescription& model)
      : model_(model), tensors_(expected_tensors(model)) {}
  virtual ~WeightSource() = default;

  const ModelDescription& model() const { return model_; }
  const std::vector<TensorSpec>& tensors() const { return tensors_; }

  // Fills `out` (cols values) with row `row` of matrix `matrix` of tensor `tensor`. The one place
  // that says which source row a stored row is.
  void read_row(size_t tensor, uint64_t matrix, uint64_t row, std::span<Bf16> out) const {
    RowSource from = row_source(tensors_[tensor], model_, static_cast<int64_t>(row));
    read_part_row(tensor, matrix, from.part, static_cast<uint64_t>(from.row), out);
  }

  // Hints that a piece will be read soon, and that it will not be read again.
  virtual void prefetch(const Piece&) const {}
  virtual void release(const Piece&) const {}

 protected:
  // Row `row` of part `part` (gate/up, q/k/v) of that matrix.
  virtual void read_part_row(size_t tensor, uint64_t matrix, int part, uint64_t row,
                             std::span<Bf16> out) const = 0;

 private:
  ModelDescription model_;
  std::vector<TensorSpec> tensors_;
};

// All tensors cut into pieces of about `target_bytes`, at least one row group each, in file order.
std::vector<Piece> cut_pieces(const std::vector<TensorSpec>& tensors, uint64_t target_bytes);

}  // namespace nmc
