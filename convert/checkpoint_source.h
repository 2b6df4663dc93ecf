// The weights of a mapped checkpoint.
#pragma once

#include <utility>

#include "convert/mapping.h"
#include "convert/weight_source.h"

namespace nmc {

// Both the checkpoint and what `mapping` points to must outlive it.
class CheckpointSource : public WeightSource {
 public:
  CheckpointSource(const Checkpoint& checkpoint, Mapping mapping)
      : WeightSource(mapping.model), checkpoint_(checkpoint), mapping_(std::move(mapping)) {}

  void prefetch(const Piece& piece) const override;
  void release(const Piece& piece) const override;

 protected:
  void read_part_row(size_t tensor, uint64_t matrix, int part, uint64_t row,
                     std::span<Bf16> out) const override;

 private:
  const MappedPart& part(size_t tensor, uint64_t matrix, int part) const;
  template <typename Visit>
  void for_each_range(const Piece& piece, const Visit& visit) const;

  const Checkpoint& checkpoint_;
  Mapping mapping_;
};

}  // namespace nmc
