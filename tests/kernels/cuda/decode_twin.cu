#include "tests/kernels/cuda/decode_twin.h"

#include <cuda_bf16.h>

#include <cmath>

namespace nmc::cuda {
namespace {

__device__ float value(const Bf16* v) {
  return __uint_as_float(uint32_t(*v) << 16);
}
__device__ float rounded(float v) {
  return __bfloat162float(__float2bfloat16_rn(v));
}

__device__ uint64_t tiled(int64_t row, int64_t col, int64_t cols) {
  return row / 8 * 8 * cols + col / 64 * 512 + row % 8 * 64 + ((col % 64 / 8) ^ (row % 8)) * 8 +
         col % 8;
}

// x (float32) -> rounded x, times the norm's weights, rounded; and 1 / rms of rounded x.
__global__ void normalise(const float* x, const Bf16* weights, int n, float eps, float* out,
                          float* inverse) {
  __shared__ float sums[256];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float v = rounded(x[i]);
    sum += v * v;
    out[i] = rounded(v * value(weights + i));
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 256; ++i) sum += sums[i];
  *inverse = rsqrtf(sum / n + eps);
}

// out[matrix, row] = scale * W[index[matrix]][row] . in[matrix]; one warp a row.
__global__ void multiply(const Bf16* weights, int rows, int cols, const int* index, const float* in,
                         int in_stride, const float* scale, float* out) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, m = blockIdx.y;
  if (row >= rows) return;
  const Bf16* w = weights + uint64_t(index ? index[m] : 0) * rows * cols;
  float sum = 0;
  for (int k = lane; k < cols; k += 32) {
    sum += value(w + tiled(row, k, cols)) * in[m * in_stride + k];
  }
  for (int i = 16; i; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  if (lane == 0) out[m * rows + row] = sum * (scale ? *scale : 1);
}

// One thread a pair of dimensions: from QKV's rows to heads; RoPE; keys and values to their page.
__global__ void place(const float* rows, int heads, int kv_heads, int dim, int block, bool rotate,
                      double theta, int position, Bf16* page, float* q) {
  const int head = blockIdx.x, pair = threadIdx.x, group = heads / kv_heads;
  const int which = head < heads ? 0 : head < heads + kv_heads ? 1 : 2;  // q, k, v
  const int kv = which == 0 ? head / group : (head - heads) % kv_heads;
  const int place = which == 0 ? head % group : group + which - 1, d = 2 * pair;
  const int row =
      kv * (group + 2) * dim + d / block * (group + 2) * block + place * block + d % block;
  float a = rows[row], b = rows[row + 1];
  if (rotate && which < 2) {
    const float frequency = float(1.0 / pow(theta, double(d) / dim));
    const double angle = frequency * float(position);
    const float c = float(cos(angle)), s = float(sin(angle)), turned = a * c - b * s;
    b = b * c + a * s;
    a = turned;
  }
  if (which == 0) {
    q[head * dim + d] = rounded(a);
    q[head * dim + d + 1] = rounded(b);
    return;
  }
  Bf16* to = page + (kv * 2 + which - 1) * kPageTokens * dim;
  for (int i = 0; i < 2; ++i) {
    to[tiled(position % kPageTokens, d + i, dim)] =
        __bfloat16_as_ushort(__float2bfloat16_rn(i ? b : a));
  }
}

// One block a head: scores of all tokens in memory, largest, weights, sums.
__global__ void attend(const float* q, const Bf16* layer, const int* pages, int heads, int kv_heads,
                       int dim, int first, int position, float* scores, float* out) {
  const int head = blockIdx.x, kv = head / (heads / kv_heads), n = position - first + 1;
  __shared__ float sums[256];
  float* s = scores + uint64_t(head) * n;
  const auto block = [&](int token, int which) {
    return layer + (uint64_t(pages[token / kPageTokens]) * kv_heads + kv) * 2 * kPageTokens * dim +
           which * kPageTokens * dim;
  };
  float top = -INFINITY;
  for (int i = threadIdx.x; i < n; i += 256) {
    const Bf16* keys = block(first + i, 0);
    float sum = 0;
    for (int d = 0; d < dim; ++d) {
      sum += value(keys + tiled((first + i) % kPageTokens, d, dim)) * q[head * dim + d];
    }
    s[i] = sum * rsqrtf(float(dim));
    top = fmaxf(top, s[i]);
  }
  sums[threadIdx.x] = top;
  __syncthreads();
  for (int i = 0; i < 256; ++i) top = fmaxf(top, sums[i]);
  __syncthreads();
  float weight = 0;
  for (int i = threadIdx.x; i < n; i += 256) weight += s[i] = expf(s[i] - top);
  sums[threadIdx.x] = weight;
  __syncthreads();
  weight = 0;
  for (int i = 0; i < 256; ++i) weight += sums[i];
  if (int(threadIdx.x) >= dim) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += s[i] * value(block(first + i, 1) + tiled((first + i) % kPageTokens, threadIdx.x, dim));
  }
  out[head * dim + threadIdx.x] = rounded(sum / weight);
}

__global__ void choose(const float* logits, int experts, int active, int* chosen, float* scores) {
  for (int k = 0; k < active; ++k) {
    int best = -1;
    for (int e = 0; e < experts; ++e) {
      bool taken = false;
      for (int j = 0; j < k; ++j) taken |= chosen[j] == e;
      if (!taken && (best < 0 || logits[e] > logits[best])) best = e;
    }
    chosen[k] = best;
    scores[k] = 1 / (1 + expf(-logits[best]));
  }
}

__global__ void activate(const float* up, int n, float* h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) h[i] = rounded(up[2 * i] / (1 + expf(-up[2 * i])) * up[2 * i + 1]);
}

__global__ void add(float* x, const float* attention, const float* parts, int count,
                    const float* scores, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = attention[i];
  for (int k = 0; k < count; ++k) sum += (scores ? scores[k] : 1) * parts[k * n + i];
  x[i] += sum;
}

__global__ void embed(const Bf16* table, int token, int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value(table + tiled(token, i, n));
}

}  // namespace

Result<DecodeTwin> DecodeTwin::create(const DeviceWeights& weights, const KvPools& kv) {
  DecodeTwin twin;
  twin.weights_ = &weights;
  twin.kv_ = &kv;
  NMC_ASSIGN(twin.memory_, allocate_device(size_t(64) << 20, "the twin"));
  return Result<DecodeTwin>(std::move(twin));
}

Status DecodeTwin::step(int32_t token, int64_t position, const int32_t* global_pages,
                        const int32_t* sliding_pages, std::vector<float>* logits,
                        std::vector<int>* experts) {
  const ModelDescription& m = weights_->model();
  const int hidden = int(m.hidden), heads = int(m.heads), kv_heads = int(m.kv_heads),
            dim = int(m.head_dim), active = int(m.experts_per_token);
  float* at = memory_.as<float>();
  const auto take = [&](size_t n) { return std::exchange(at, at + n); };
  float *x = take(hidden), *n = take(hidden), *inverse = take(64), *rows = take(16384),
        *q = take(heads * dim), *a = take(heads * dim), *o = take(hidden), *scored = take(4096),
        *up = take(65536), *h = take(65536), *down = take(65536), *out = take(m.vocab),
        *scores = take(size_t(heads) * 300000 / 4);
  int* chosen = reinterpret_cast<int*>(take(64));
  const auto linear = [&](const DeviceTensor& t, const int* index, int count, const float* in,
                          int stride, const float* scale, float* to) {
    const int r = int(t.spec.rows), c = int(t.spec.cols);
    multiply<<<dim3((r + 7) / 8, count), 256>>>(t.values, r, c, index, in, stride, scale, to);
  };
  const auto norm = [&](const std::string& name) {
    normalise<<<1, 256>>>(x, weights_->tensor(name).values, hidden, float(m.norm_eps), n, inverse);
  };
  if (experts) experts->assign(m.layers.size() * active, -1);
  embed<<<(hidden + 255) / 256, 256>>>(weights_->tensor("embedding").values, token, hidden, x);
  for (size_t l = 0; l < m.layers.size(); ++l) {
    const LayerDescription& layer = m.layers[l];
    const std::string name = "layers." + std::to_string(l) + ".";
    const int32_t* pages = layer.window ? sliding_pages : global_pages;
    const KvLayer kv = kv_->layer(l);
    int page = 0;
    NMC_TRY(check(
        cudaMemcpy(&page, pages + position / kPageTokens, sizeof page, cudaMemcpyDeviceToHost),
        "reading the page table"));
    norm(name + "norm");
    const DeviceTensor& qkv = weights_->tensor(name + "qkv");
    linear(qkv, nullptr, 1, n, 0, inverse, rows);
    place<<<heads + 2 * kv_heads, dim / 2>>>(rows, heads, kv_heads, dim, int(qkv.spec.row_block),
                                             layer.rope, m.rope_theta, int(position),
                                             kv.keys(page, 0), q);
    const int first = layer.window ? std::max<int>(0, int(position - layer.window + 1)) : 0;
    attend<<<heads, 256>>>(q, kv.base, pages, heads, kv_heads, dim, first, int(position), scores,
                           a);
    linear(weights_->tensor(name + "o"), nullptr, 1, a, 0, nullptr, o);
    if (!layer.sparse) {
      const int width = int(m.dense_width);
      linear(weights_->tensor(name + "gate_up"), nullptr, 1, n, 0, inverse, up);
      activate<<<(width + 255) / 256, 256>>>(up, width, h);
      linear(weights_->tensor(name + "down"), nullptr, 1, h, 0, nullptr, down);
      add<<<(hidden + 255) / 256, 256>>>(x, o, down, 1, nullptr, hidden);
      continue;
    }
    const int width = int(m.expert_width);
    linear(weights_->tensor(name + "router"), nullptr, 1, n, 0, inverse, scored);
    choose<<<1, 1>>>(scored, int(m.experts), active, chosen, scored + 1024);
    if (experts) {
      NMC_TRY(check(cudaMemcpy(experts->data() + l * active, chosen, active * sizeof(int),
                               cudaMemcpyDeviceToHost),
                    "reading experts"));
    }
    linear(weights_->tensor(name + "experts.gate_up"), chosen, active, n, 0, inverse, up);
    activate<<<(active * width + 255) / 256, 256>>>(up, active * width, h);
    linear(weights_->tensor(name + "experts.down"), chosen, active, h, width, nullptr, down);
    add<<<(hidden + 255) / 256, 256>>>(x, o, down, active, scored + 1024, hidden);
  }
  norm("final_norm");
  linear(weights_->tensor("embedding"), nullptr, 1, n, 0, inverse, out);
  logits->resize(m.vocab);
  NMC_TRY(check(cudaMemcpy(logits->data(), out, m.vocab * sizeof(float), cudaMemcpyDeviceToHost),
                "running the twin"));
  for (float& v : *logits) v *= float(m.logit_scale);
  return {};
}

}  // namespace nmc::cuda
