// A model whose weights come from SyntheticRule.
#pragma once

#include "convert/weight_source.h"
#include "runtime/format/synthetic_rule.h"

namespace nmc {

class SyntheticSource : public WeightSource {
 public:
  explicit SyntheticSource(const ModelDescription& model);

 protected:
  void read_part_row(size_t tensor, uint64_t matrix, int part, uint64_t row,
                     std::span<Bf16> out) const override;

 private:
  SyntheticRule rule_;
  // [tensor][matrix * part_count + part]
  std::vector<std::vector<SyntheticTensor>> parts_;
};

}  // namespace nmc
