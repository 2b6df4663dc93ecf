#include "tests/support/golden.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace nmc::test {
namespace {

GoldenPrompt read_prompt(const TensorFile& file, const std::string& prefix) {
  return {.ids = file.i32(prefix + "input_ids").values,
          .logits = file.f32(prefix + "logits_fp32"),
          .greedy = file.i32(prefix + "greedy_tokens_fp32").values,
          .greedy_logits = file.f32(prefix + "greedy_logits_fp32"),
          .experts = file.i32(prefix + "router_topk_fp32"),
          .margin = file.f32(prefix + "router_margin_fp32")};
}

}  // namespace

std::vector<GoldenPrompt> GoldenModel::prompts() const {
  const TensorFile file(values / "goldens.safetensors");
  std::vector<GoldenPrompt> prompts;
  for (int i = 0; file.has("prompt" + std::to_string(i) + ".input_ids"); ++i) {
    prompts.push_back(read_prompt(file, "prompt" + std::to_string(i) + "."));
  }
  if (prompts.empty()) throw std::runtime_error(values.string() + " holds no prompts");
  return prompts;
}

std::filesystem::path source_dir() {
  const char* moved = std::getenv("NMC_SOURCE_DIR");
  return moved != nullptr ? moved : NMC_SOURCE_DIR;
}

std::vector<GoldenModel> golden_models() {
  const std::filesystem::path source = source_dir();
  std::vector<GoldenModel> models;
  for (const auto& entry : std::filesystem::directory_iterator(source / "tests/golden")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const bool bundled = name == "cohere2moe-nano";
    models.push_back({name, bundled ? source / "models" / name : entry.path(), entry.path()});
  }
  std::ranges::sort(models, {}, &GoldenModel::name);
  return models;
}

GoldenModel golden_model(const std::string& name) {
  for (GoldenModel& model : golden_models()) {
    if (model.name == name) return std::move(model);
  }
  throw std::runtime_error("tests/golden holds no " + name);
}

}  // namespace nmc::test
