#include "convert/synthetic_source.h"

#include "runtime/format/checkpoint_names.h"

namespace nmc {

SyntheticSource::SyntheticSource(const ModelDescription& m) : WeightSource(m), rule_(m) {
  for (const TensorSpec& spec : tensors()) {
    auto& parts = parts_.emplace_back();
    for (uint64_t matrix = 0; matrix < spec.count; ++matrix) {
      for (int part = 0; part < part_count(spec); ++part) {
        std::string name = part_places(spec, m, matrix, part).front().name;
        parts.push_back(rule_.tensor(name, spec.cols));
      }
    }
  }
}

void SyntheticSource::read_part_row(size_t tensor, uint64_t matrix, int part, uint64_t row,
                                    std::span<Bf16> out) const {
  auto parts = static_cast<uint64_t>(part_count(tensors()[tensor]));
  rule_.fill_row(parts_[tensor][matrix * parts + static_cast<uint64_t>(part)], row, out);
}

}  // namespace nmc
