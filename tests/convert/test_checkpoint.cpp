#include "tests/convert/test_checkpoint.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "convert/convert.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"

namespace nmc {

namespace fs = std::filesystem;

Bf16 test_value(const std::string& name, uint64_t index) {
  std::string key = name + "#" + std::to_string(index);
  return static_cast<Bf16>(xxh3_64(key.data(), key.size()));
}

TestTensor test_tensor(const std::string& name, std::vector<uint64_t> shape) {
  TestTensor t = zeros(std::move(shape));
  for (size_t i = 0; i < t.bytes.size() / 2; ++i)
    store_le<Bf16>(t.bytes.data() + 2 * i, test_value(name, i));
  return t;
}

TestTensor zeros(std::vector<uint64_t> shape) {
  uint64_t n = 1;
  for (uint64_t s : shape) n *= s;
  return {std::move(shape), std::string(2 * n, '\0')};
}

Json small_config() {
  return Json::parse(R"({
    "model_type": "cohere2_moe", "vocab_size": 21, "hidden_size": 72, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 6, "num_hidden_layers": 2, "first_k_dense_replace": 1,
    "prefix_dense_intermediate_size": 10, "intermediate_size": 5, "num_experts": 3,
    "num_experts_per_tok": 2, "num_shared_experts": 1, "sliding_window": 16,
    "max_position_embeddings": 128, "rms_norm_eps": 1e-6, "eos_token_id": 2, "bos_token_id": 1})");
}

TestTensors small_tensors() {
  TestTensors out;
  auto add = [&](const std::string& name, std::vector<uint64_t> shape) {
    out[name] = test_tensor(name, std::move(shape));
  };
  auto add_mlp = [&](const std::string& prefix, uint64_t width) {
    add(prefix + "gate_proj.weight", {width, 72});
    add(prefix + "up_proj.weight", {width, 72});
    add(prefix + "down_proj.weight", {72, width});
  };
  for (std::string layer : {"model.layers.0.", "model.layers.1."}) {
    add(layer + "input_layernorm.weight", {72});
    add(layer + "self_attn.q_proj.weight", {24, 72});
    add(layer + "self_attn.k_proj.weight", {12, 72});
    add(layer + "self_attn.v_proj.weight", {12, 72});
    add(layer + "self_attn.o_proj.weight", {72, 24});
  }
  add_mlp("model.layers.0.mlp.", 10);
  add("model.layers.1.mlp.gate.weight", {3, 72});
  for (std::string e : {"0", "1", "2"}) add_mlp("model.layers.1.mlp.experts." + e + ".", 5);
  add_mlp("model.layers.1.mlp.shared_experts.", 5);
  add("model.norm.weight", {72});
  add("model.embed_tokens.weight", {21, 72});
  return out;
}

TestTensors with_prefix(const TestTensors& tensors, const std::string& from,
                        const std::string& to) {
  TestTensors out;
  for (const auto& [name, t] : tensors) out[to + name.substr(from.size())] = t;
  return out;
}

namespace {

// Takes the experts' tensors out, in the order of `projections` for each expert.
std::string take_experts(TestTensors* tensors, const std::vector<std::string>& projections) {
  std::string bytes;
  for (std::string e : {"0", "1", "2"}) {
    for (const std::string& p : projections) {
      auto node = tensors->extract("model.layers.1.mlp.experts." + e + "." + p + ".weight");
      bytes += node.mapped().bytes;
    }
  }
  return bytes;
}

}  // namespace

TestTensors with_fused_experts(TestTensors t) {
  std::string gate_up = take_experts(&t, {"gate_proj", "up_proj"});
  t["model.layers.1.mlp.experts.gate_up_proj"] = {{3, 10, 72}, std::move(gate_up)};
  t["model.layers.1.mlp.experts.down_proj"] = {{3, 72, 5}, take_experts(&t, {"down_proj"})};
  return t;
}

TestTensors with_stacked_experts(TestTensors t) {
  for (std::string p : {"gate_proj", "up_proj", "down_proj"}) {
    std::vector<uint64_t> shape{3, 5, 72};
    if (p == "down_proj") shape = {3, 72, 5};
    std::string bytes = take_experts(&t, {p});
    t["model.layers.1.mlp.switch_mlp." + p + ".weight"] = {shape, std::move(bytes)};
  }
  return t;
}

TestTensors with_dtype(TestTensors tensors, const char* dtype) {
  for (auto& [name, t] : tensors) {
    t.dtype = dtype;
    if (t.dtype != "F32") continue;
    std::string wide(t.bytes.size() * 2, '\0');
    for (size_t i = 0; i < t.bytes.size() / 2; ++i)
      store_le<float>(wide.data() + 4 * i, bf16_to_float(load_le<Bf16>(t.bytes.data() + 2 * i)));
    t.bytes = std::move(wide);
  }
  return tensors;
}

void write_text(const fs::path& path, const std::string& text) {
  Status s = write_file(path, text);
  if (!s.ok()) throw std::runtime_error(s.message());
}

void write_safetensors(const fs::path& path, const TestTensors& tensors) {
  Json header{{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const auto& [name, t] : tensors) {
    header[name] = {{"dtype", t.dtype},
                    {"shape", t.shape},
                    {"data_offsets", {data.size(), data.size() + t.bytes.size()}}};
    data += t.bytes;
  }
  std::string json = header.dump(), length(8, '\0');
  json.resize(align_up(json.size(), 8), ' ');
  store_le<uint64_t>(length.data(), json.size());
  write_text(path, length + json + data);
}

fs::path write_checkpoint(const fs::path& folder, const Json& config, const TestTensors& tensors) {
  fs::create_directories(folder);
  write_text(folder / "config.json", config.dump());
  write_safetensors(folder / "model.safetensors", tensors);
  return folder;
}

fs::path write_shards(const fs::path& folder, const Json& config,
                      const std::vector<TestTensors>& shards) {
  fs::create_directories(folder);
  write_text(folder / "config.json", config.dump());
  Json map;
  for (size_t i = 0; i < shards.size(); ++i) {
    std::string file = "model-" + std::to_string(i + 1) + ".safetensors";
    write_safetensors(folder / file, shards[i]);
    for (const auto& [name, t] : shards[i]) map[name] = file;
  }
  write_text(folder / "model.safetensors.index.json",
             Json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
  return folder;
}

ModelFile convert_ok(const fs::path& folder, size_t threads, bool cast) {
  fs::path out = folder / "out.nmc";
  auto converted =
      convert_checkpoint(folder, cast, {.out = out, .replace = true, .threads = threads});
  if (!converted.ok()) throw std::runtime_error(converted.status().message());
  auto file = ModelFile::open(out);
  if (!file.ok()) throw std::runtime_error(file.status().message());
  return std::move(*file);
}

std::string convert_error(const fs::path& folder, bool cast) {
  fs::path out = folder / "refused.nmc";
  auto converted = convert_checkpoint(folder, cast, {.out = out, .replace = true});
  EXPECT_EQ(fs::exists(out), converted.ok());
  return converted.ok() ? "" : converted.status().message();
}

std::string weights_of(const ModelFile& file) {
  std::string all;
  for (const TensorEntry& t : file.header().tensors) {
    auto bytes = file.bytes(t);
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return all;
}

}  // namespace nmc
