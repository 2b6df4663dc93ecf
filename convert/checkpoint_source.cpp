#include "convert/checkpoint_source.h"

#include <algorithm>

#include "convert/cast.h"
#include "runtime/format/checkpoint_names.h"

namespace nmc {

const MappedPart& CheckpointSource::part(size_t tensor, uint64_t matrix, int part) const {
  auto parts = static_cast<uint64_t>(part_count(tensors()[tensor]));
  return mapping_.parts[tensor][matrix * parts + static_cast<uint64_t>(part)];
}

void CheckpointSource::read_part_row(size_t tensor, uint64_t matrix, int p, uint64_t row,
                                     std::span<Bf16> out) const {
  const MappedPart& from = part(tensor, matrix, p);
  const CheckpointTensor& t = *from.tensor;
  uint64_t element = (from.first_row + row) * out.size();
  read_as_bf16(t.dtype, t.data + element * dtype_bytes(t.dtype), out);
}

// Calls visit(tensor, offset, bytes) with the range of each part that a piece's rows span.
template <typename Visit>
void CheckpointSource::for_each_range(const Piece& piece, const Visit& visit) const {
  const TensorSpec& spec = tensors()[piece.tensor];
  for (int p = 0; p < part_count(spec); ++p) {
    int64_t low = INT64_MAX, high = -1;
    for (uint64_t i = 0; i < piece.rows; ++i) {
      RowSource from = row_source(spec, model(), static_cast<int64_t>(piece.first_row + i));
      if (from.part != p) continue;
      low = std::min(low, from.row);
      high = std::max(high, from.row);
    }
    if (high < 0) continue;
    const MappedPart& source = part(piece.tensor, piece.matrix, p);
    uint64_t row_bytes = spec.cols * dtype_bytes(source.tensor->dtype);
    visit(*source.tensor, (source.first_row + static_cast<uint64_t>(low)) * row_bytes,
          static_cast<uint64_t>(high - low + 1) * row_bytes);
  }
}

void CheckpointSource::prefetch(const Piece& piece) const {
  for_each_range(piece, [&](const CheckpointTensor& t, uint64_t offset, uint64_t bytes) {
    checkpoint_.prefetch(t, offset, bytes);
  });
}

void CheckpointSource::release(const Piece& piece) const {
  for_each_range(piece, [&](const CheckpointTensor& t, uint64_t offset, uint64_t bytes) {
    checkpoint_.release(t, offset, bytes);
  });
}

}  // namespace nmc
