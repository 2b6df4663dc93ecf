// The golden models: checkpoints whose outputs the Hugging Face implementation has computed in
// float32 (tests/golden).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/tensor_file.h"

namespace nmc::test {

// Prompts are longer than the model's window.
struct GoldenPrompt {
  std::vector<int32_t> ids;
  Tensor<float> logits;         // [tokens, vocab]
  std::vector<int32_t> greedy;  // the next tokens, each the one with the largest logit
  Tensor<float> greedy_logits;  // [greedy tokens, vocab]; row i chose greedy[i]
  Tensor<int32_t> experts;      // [sparse layers, tokens, k], largest logit first
  Tensor<float> margin;         // [sparse layers, tokens]: k-th minus (k+1)-th router logit
};

struct GoldenModel {
  std::string name;
  std::filesystem::path checkpoint;  // config.json, model.safetensors, ...
  std::filesystem::path values;      // goldens.safetensors, debug_prompt0.safetensors, tokens.txt

  std::vector<GoldenPrompt> prompts() const;
  // "prompt0.embed_fp32", "prompt0.residual_after_layer2_fp32", "prompt0.router_logits_layer2_fp32"
  TensorFile debug() const { return TensorFile(values / "debug_prompt0.safetensors"); }
};

// The root of the sources: where they were built from, or what the environment's NMC_SOURCE_DIR
// says when a test runs on another machine.
std::filesystem::path source_dir();

// The bundled model, and the folders of tests/golden that hold a checkpoint of their own.
std::vector<GoldenModel> golden_models();
GoldenModel golden_model(const std::string& name);

}  // namespace nmc::test
