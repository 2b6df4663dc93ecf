#include "kernels/cuda/synthesis.h"

#include "runtime/format/checkpoint_names.h"
#include "runtime/format/synthetic_rule.h"

namespace nmc::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxDirections = 1024;  // check_description's limit of experts per token

struct Job {
  SyntheticConstants constants;
  uint64_t directions_seed;
  RowMap map;
  int64_t rows, cols, padded_rows, padded_cols;
  int parts;
  const SyntheticTensor* part;  // [count][parts]
  Bf16* out;
};

// A row of the stored matrix that blockIdx names, padding included. The block is [kThreads].
__global__ void fill_rows(Job job) {
  __shared__ int32_t directions[kMaxDirections];
  using Kind = SyntheticTensor::Kind;
  const SyntheticConstants& c = job.constants;
  const int64_t row = blockIdx.x % job.padded_rows, matrix = blockIdx.x / job.padded_rows;
  Bf16* out = job.out + (matrix * job.padded_rows + row / kAtomRows * kAtomRows) * job.padded_cols;
  const bool padding = row >= job.rows;
  const RowSource source = padding ? RowSource{} : job.map.source(row);
  const SyntheticTensor t = job.part[matrix * job.parts + source.part];
  if (t.kind == Kind::kEmbedding && !padding && threadIdx.x == 0) {
    int drawn = 0;
    for (uint64_t i = 0; drawn < c.chosen; ++i) {
      const int64_t d = direction_candidate(c, job.directions_seed, uint64_t(row), i);
      bool taken = false;
      for (int j = 0; j < drawn; ++j) taken |= directions[j] == d;
      if (!taken) directions[drawn++] = int32_t(d);
    }
  }
  __syncthreads();
  for (int64_t col = threadIdx.x; col < job.padded_cols; col += kThreads) {
    Bf16 value = 0;
    if (!padding && col < job.cols) {
      const uint64_t index = uint64_t(source.row) * uint64_t(job.cols) + uint64_t(col);
      if (t.kind == Kind::kPlain) {
        value = synthetic_plain(t, index);
      } else if (t.kind == Kind::kRouter) {
        const int64_t direction = router_direction(c, t, source.row);
        value = synthetic_router(c, t, index, walsh_sign(uint64_t(1 + direction), uint64_t(col)));
      } else {
        int32_t sum = 0;
        for (int j = 0; j < c.chosen; ++j) {
          sum += direction_strength(j) * walsh_sign(uint64_t(1 + directions[j]), uint64_t(col));
        }
        value = synthetic_embedding(c, t, index, sum);
      }
    }
    out[index_in_group(row, col)] = value;
  }
}

__global__ void fill_vector(SyntheticTensor tensor, int64_t cols, Bf16* out) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < cols) out[i] = synthetic_norm(tensor, uint64_t(i));
}

class Synthesis {
 public:
  Synthesis(const ModelDescription& model, const DeviceMemory& memory)
      : model_(model), rule_(model), memory_(memory) {}

  Status run(std::span<const DeviceTensor> tensors) {
    NMC_TRY(check(cudaMemset(memory_.as<void>(), 0, memory_.bytes()), "clearing the weights"));
    for (const DeviceTensor& tensor : tensors) {
      std::vector<SyntheticTensor> parts = parts_of(tensor.spec);
      NMC_TRY(tensor.spec.layout == TensorLayout::kVector ? fill(tensor, parts.front())
                                                          : fill(tensor, parts));
    }
    return check(cudaDeviceSynchronize(), "making synthetic weights");
  }

 private:
  std::vector<SyntheticTensor> parts_of(const TensorSpec& spec) const {
    std::vector<SyntheticTensor> parts;
    for (uint64_t matrix = 0; matrix < spec.count; ++matrix) {
      for (int part = 0; part < part_count(spec); ++part) {
        parts.push_back(
            rule_.tensor(part_places(spec, model_, matrix, part).front().name, spec.cols));
      }
    }
    return parts;
  }

  Bf16* place(const DeviceTensor& tensor) const {
    return memory_.as<Bf16>() + tensor.offset / sizeof(Bf16);
  }

  Status fill(const DeviceTensor& tensor, const SyntheticTensor& rule) const {
    const auto cols = static_cast<int64_t>(tensor.spec.cols);
    fill_vector<<<unsigned((cols + kThreads - 1) / kThreads), kThreads>>>(rule, cols,
                                                                          place(tensor));
    return check(cudaGetLastError(), "starting fill_vector");
  }

  Status fill(const DeviceTensor& tensor, const std::vector<SyntheticTensor>& parts) const {
    const TensorSpec& spec = tensor.spec;
    const size_t bytes = parts.size() * sizeof(SyntheticTensor);
    NMC_ASSIGN(DeviceMemory on_device, allocate_device(bytes, "the rule of the weights"));
    NMC_TRY(check(cudaMemcpy(on_device.as<void>(), parts.data(), bytes, cudaMemcpyHostToDevice),
                  "copying the rule of the weights"));
    const Job job{.constants = rule_.constants(),
                  .directions_seed = SyntheticRule::directions_seed(),
                  .map = row_map(spec, model_),
                  .rows = static_cast<int64_t>(spec.rows),
                  .cols = static_cast<int64_t>(spec.cols),
                  .padded_rows = static_cast<int64_t>(spec.padded_rows()),
                  .padded_cols = static_cast<int64_t>(spec.padded_cols()),
                  .parts = part_count(spec),
                  .part = on_device.as<SyntheticTensor>(),
                  .out = place(tensor)};
    fill_rows<<<unsigned(spec.count * spec.padded_rows()), kThreads>>>(job);
    return check(cudaGetLastError(),
                 "starting fill_rows");  // freeing the rule waits for the kernel
  }

  const ModelDescription& model_;
  SyntheticRule rule_;
  const DeviceMemory& memory_;
};

}  // namespace

Status synthesize_weights(const ModelDescription& model, std::span<const DeviceTensor> tensors,
                          const DeviceMemory& memory) {
  return Synthesis(model, memory).run(tensors);
}

}  // namespace nmc::cuda
