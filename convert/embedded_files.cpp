#include "convert/embedded_files.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

namespace nmc {
namespace {

constexpr uint64_t kMaxFileBytes = 64 << 20;
constexpr const char* kTemplate = "chat_template.jinja";

// The template inside tokenizer_config.json: a string, or a list of named ones with a "default".
Result<std::string> template_in(const std::string& tokenizer_config) {
  NMC_ASSIGN(Json json, parse_json(tokenizer_config, "tokenizer_config.json"));
  auto it = json.is_object() ? json.find("chat_template") : json.end();
  if (it == json.end()) return std::string();
  if (it->is_string()) return it->get<std::string>();
  if (!it->is_array()) return std::string();
  for (const Json& entry : *it) {
    NMC_ASSIGN(std::string name, json_string(entry, "name", "chat_template", ""));
    if (name == "default")
      return json_string(entry, "template", "tokenizer_config.json: chat_template");
  }
  return std::string();
}

}  // namespace

Result<std::map<std::string, std::string>> read_embedded_files(
    const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const char* name :
       {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json", "tokenizer.model", kTemplate}) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(folder / name, ignored)) continue;
    NMC_ASSIGN(files[name], read_file(folder / name, kMaxFileBytes));
  }
  auto config = files.find("tokenizer_config.json");
  if (!files.contains(kTemplate) && config != files.end()) {
    NMC_ASSIGN(std::string text, template_in(config->second));
    if (!text.empty()) files[kTemplate] = std::move(text);
  }
  return files;
}

}  // namespace nmc
