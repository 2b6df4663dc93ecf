#include "kernels/cuda/prefill/rows_forward.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <climits>

#include "kernels/cuda/prefill/attention.h"
#include "kernels/cuda/prefill/buffers.h"
#include "kernels/cuda/prefill/rows.h"

namespace nmc::cuda {

// The tensors of a layer; null where it has none.
struct RowsForward::Layer {
  LayerDescription description;
  const DeviceTensor *norm = nullptr, *qkv = nullptr, *o = nullptr;
  const DeviceTensor *gate_up = nullptr, *down = nullptr;  // dense, or all experts
  const DeviceTensor *router = nullptr, *shared_gate_up = nullptr, *shared_down = nullptr;
};

struct RowsForward::Buffers : RowBuffers {
  DeviceMemory memory;
  PinnedMemory host_logits;  // [logit rows][vocab], and a row number behind
};

RowsForward::RowsForward(const DeviceWeights* weights, const KvPools* pools, cudaStream_t stream,
                         RowsOptions options)
    : weights_(weights),
      pools_(pools),
      model_(weights->model()),
      stream_(stream),
      options_(options),
      embedding_(&weights->tensor("embedding")),
      final_norm_(&weights->tensor("final_norm")),
      head_(&weights->tensor(model_.tied_head ? "embedding" : "head")) {
  for (size_t i = 0; i < model_.layers.size(); ++i) {
    const std::string prefix = "layers." + std::to_string(i) + ".";
    auto find = [&](const std::string& name) { return &weights->tensor(prefix + name); };
    Layer layer{.description = model_.layers[i]};
    layer.norm = find("norm");
    layer.qkv = find("qkv");
    layer.o = find("o");
    if (layer.description.sparse) {
      layer.router = find("router");
      layer.gate_up = find("experts.gate_up");
      layer.down = find("experts.down");
      if (model_.shared_experts > 0) {
        layer.shared_gate_up = find("shared.gate_up");
        layer.shared_down = find("shared.down");
      }
    } else {
      layer.gate_up = find("gate_up");
      layer.down = find("down");
    }
    layers_.push_back(layer);
  }
}

RowsForward::~RowsForward() = default;

Result<std::unique_ptr<RowsForward>> RowsForward::create(const DeviceWeights* weights,
                                                         const KvPools* pools, cudaStream_t stream,
                                                         RowsOptions options) {
  const ModelDescription& m = weights->model();
  if (m.head_dim > 256) {
    return unsupported("the CUDA executor computes heads of at most 256 values; this model has " +
                       std::to_string(m.head_dim) + "; use --device cpu");
  }
  std::unique_ptr<RowsForward> forward(new RowsForward(weights, pools, stream, options));
  NMC_TRY(forward->allocate());
  return forward;
}

Status RowsForward::allocate() {
  NMC_ASSIGN(maps_, TensorMaps::create());
  buffers_ = std::make_unique<Buffers>();
  NMC_ASSIGN(static_cast<RowBuffers&>(*buffers_),
             make_row_buffers(model_, options_.rows, options_.logit_rows, &buffers_->memory));
  const auto bytes = static_cast<size_t>(options_.logit_rows * model_.vocab) * sizeof(float);
  NMC_ASSIGN(buffers_->host_logits, allocate_pinned(bytes + sizeof(int32_t), "logits"));
  batch_ = Batch(model_, buffers_->partial_floats);
  return {};
}

Tokens RowsForward::all_rows(const Bf16* values, const DeviceTensor& weight) const {
  Tokens tokens;
  tokens.values = values;
  tokens.maps = &maps_;
  tokens.rows = batch_.view().rows;
  tokens.tiles.rows = batch_.view().rows;
  tokens.tiles.tokens = tile_tokens(tokens.tiles.rows, int64_t(weight.spec.rows));
  return tokens;
}

Status RowsForward::mark(const char* operation) {
  return options_.times == nullptr ? Status() : options_.times->mark(operation, stream_);
}

Status RowsForward::run(std::span<const SequenceStep> steps, float* logits, const Pauses* pauses) {
  NMC_TRY(start(steps, pauses));
  return finish(logits);
}

Status RowsForward::start(std::span<const SequenceStep> steps, const Pauses* pauses) {
  NMC_TRY(batch_.assign(steps, stream_));
  assert(batch_.view().rows <= options_.rows);
  if (options_.poison) NMC_TRY(poison(*buffers_, model_, options_.rows, stream_));
  NMC_TRY(mark(""));
  const BatchView& b = batch_.view();
  NMC_TRY(embed(*embedding_, b.token, b.rows, buffers_->x, stream_));
  NMC_TRY(rotation(buffers_->frequencies, model_.head_dim / 2, b.position, b.rows,
                   buffers_->rotation, stream_));
  NMC_TRY(mark("embed"));
  if (pauses != nullptr) return run_layers(*pauses);
  for (size_t i = 0; i < layers_.size(); ++i) NMC_TRY(run_layer(i));
  return {};
}

// As many layers at a time as should fit between two pauses.
Status RowsForward::run_layers(const Pauses& pauses) {
  using Clock = std::chrono::steady_clock;
  for (size_t first = 0; first < layers_.size();) {
    const double fit = std::max(1.0, pauses.seconds / layer_seconds_);
    const size_t rest = layers_.size() - first;
    const size_t count = fit < static_cast<double>(rest) ? static_cast<size_t>(fit) : rest;
    const auto begin = Clock::now();
    for (size_t i = 0; i < count; ++i) NMC_TRY(run_layer(first + i));
    first += count;
    if (first == layers_.size()) break;
    NMC_TRY(check(cudaStreamSynchronize(stream_), "running the model"));
    layer_seconds_ =
        std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(count);
    NMC_TRY(pauses.pause());
  }
  return {};
}

Status RowsForward::run_layer(size_t index) {
  const Layer& layer = layers_[index];
  NMC_TRY(norm(model_, *layer.norm, buffers_->x, nullptr, batch_.view().rows, buffers_->normed,
               stream_));
  NMC_TRY(mark("norm"));
  NMC_TRY(run_attention(index, layer));
  return run_mlp(layer);
}

Status RowsForward::run_attention(size_t index, const Layer& layer) {
  const BatchView& b = batch_.view();
  const KvPool pool = pools_->layout().layers[index].pool;
  QkvTarget target;
  target.map = row_map(layer.qkv->spec, model_);
  target.rotation = layer.description.rope ? buffers_->rotation : nullptr;
  target.query = buffers_->query;
  target.heads = static_cast<int32_t>(model_.heads);
  target.head_dim = static_cast<int32_t>(model_.head_dim);
  target.kv = pools_->layer(index);
  target.position = b.position;
  target.page = pool == KvPool::kGlobal ? b.global_page : b.sliding_page;
  NMC_TRY(qkv(*layer.qkv, all_rows(buffers_->normed, *layer.qkv), target, stream_));
  NMC_TRY(mark("qkv"));

  AttentionArgs args;
  args.batch = &b;
  args.kv = target.kv;
  args.pool = pool;
  args.window = layer.description.window;
  args.query = buffers_->query;
  args.heads = target.heads;
  args.head_dim = target.head_dim;
  args.output = buffers_->attended;
  args.partial = buffers_->partial;
  NMC_TRY(attention(args, stream_));
  NMC_TRY(mark(layer.description.window == 0 ? "attention global" : "attention sliding"));
  NMC_TRY(add_product(*layer.o, all_rows(buffers_->attended, *layer.o), buffers_->x, stream_));
  return mark("o");
}

Status RowsForward::run_mlp(const Layer& layer) {
  if (layer.description.sparse) return run_experts(layer);
  NMC_TRY(gated_units(*layer.gate_up, all_rows(buffers_->normed, *layer.gate_up), buffers_->dense,
                      stream_));
  NMC_TRY(mark("dense gate_up"));
  NMC_TRY(add_product(*layer.down, all_rows(buffers_->dense, *layer.down), buffers_->x, stream_));
  return mark("dense down");
}

Status RowsForward::run_experts(const Layer& layer) {
  const RowBuffers& buffers = *buffers_;
  const ExpertRows& experts = buffers.experts;
  const int64_t rows = batch_.view().rows;
  NMC_TRY(store_product(*layer.router, all_rows(buffers.normed, *layer.router), buffers.router,
                        stream_));
  NMC_TRY(mark("router"));
  NMC_TRY(choose_experts(model_, buffers.router, rows, experts, stream_));
  NMC_TRY(mark("choose"));
  Tokens sorted;
  sorted.tiles.tokens = expert_tile_tokens(rows * model_.experts_per_token / model_.experts);
  sorted.tiles.list = experts.tiles;
  sorted.tiles.list_count = experts.tile_count;
  sorted.tiles.list_most =
      static_cast<int32_t>(most_expert_tiles(model_, rows, sorted.tiles.tokens));
  NMC_TRY(sort_by_expert(model_, rows, sorted.tiles.tokens, experts, stream_));
  NMC_TRY(mark("sort"));
  NMC_TRY(gather_rows(experts, most_sorted_rows(model_, rows), padded_cols(model_.hidden),
                      buffers.normed, buffers.sorted, stream_));
  NMC_TRY(mark("gather"));
  sorted.values = buffers.sorted;
  sorted.maps = &maps_;
  sorted.rows = most_sorted_rows(model_, rows);
  NMC_TRY(gated_units(*layer.gate_up, sorted, buffers.hidden, stream_));
  NMC_TRY(mark("experts gate_up"));
  sorted.values = buffers.hidden;
  NMC_TRY(store_product(*layer.down, sorted, buffers.routed, stream_));
  NMC_TRY(mark("experts down"));
  if (layer.shared_gate_up != nullptr) NMC_TRY(run_shared(layer));
  NMC_TRY(mark("shared"));

  CombineArgs args;
  args.weight = experts.weight;
  args.place = experts.place;
  args.chosen = static_cast<int32_t>(model_.experts_per_token);
  args.routed = buffers.routed;
  if (layer.shared_gate_up != nullptr) args.shared = buffers.shared_out;
  args.factor = model_.shared_combine == SharedCombine::kAverage ? 0.5f : 1.0f;
  NMC_TRY(combine(args, rows, model_.hidden, buffers.x, stream_));
  return mark("combine");
}

Status RowsForward::run_shared(const Layer& layer) {
  NMC_TRY(gated_units(*layer.shared_gate_up, all_rows(buffers_->normed, *layer.shared_gate_up),
                      buffers_->shared, stream_));
  return store_product(*layer.shared_down, all_rows(buffers_->shared, *layer.shared_down),
                       buffers_->shared_out, stream_);
}

// Logits of the wanted rows, as many at a time as their buffer holds.
Status RowsForward::finish(float* logits_out) {
  const BatchView& b = batch_.view();
  Buffers& buffers = *buffers_;
  auto* host = buffers.host_logits.as<float>();
  for (int32_t first = 0; first < b.wanted; first += static_cast<int32_t>(options_.logit_rows)) {
    const auto rows =
        std::min<int32_t>(b.wanted - first, static_cast<int32_t>(options_.logit_rows));
    const size_t values = static_cast<size_t>(rows) * static_cast<size_t>(model_.vocab);
    auto* bad_row = reinterpret_cast<int32_t*>(host + values);
    *bad_row = INT_MAX;
    auto copy = [&](void* to, const void* from, size_t bytes) {
      return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copying logits");
    };
    NMC_TRY(copy(buffers.bad_row, bad_row, sizeof *bad_row));
    NMC_TRY(mark(""));
    NMC_TRY(
        norm(model_, *final_norm_, buffers.x, b.wanted_row + first, rows, buffers.last, stream_));
    Tokens tokens;
    tokens.values = buffers.last;
    tokens.maps = &maps_;
    tokens.rows = rows;
    tokens.tiles.rows = rows;
    tokens.tiles.tokens = tile_tokens(rows, model_.vocab);
    NMC_TRY(logits(*head_, tokens, static_cast<float>(model_.logit_scale), buffers.logits,
                   buffers.bad_row, stream_));
    NMC_TRY(mark("head"));
    NMC_TRY(copy(host, buffers.logits.values, values * sizeof(float)));
    NMC_TRY(copy(bad_row, buffers.bad_row, sizeof *bad_row));
    NMC_TRY(check(cudaStreamSynchronize(stream_), "running the model"));
    if (*bad_row != INT_MAX) {
      return internal_error("the logits of row " + std::to_string(first + *bad_row) +
                            " of the step are not finite: the weights overflow, or a value was "
                            "read that was never written");
    }
    std::copy_n(host, values,
                logits_out + static_cast<size_t>(first) * static_cast<size_t>(model_.vocab));
  }
  return check(cudaStreamSynchronize(stream_), "running the model");
}

}  // namespace nmc::cuda
