// The small files of a checkpoint that a model file carries along.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runtime/base/status.h"

namespace nmc {

// Contents by name: config.json, generation_config.json, tokenizer.json, tokenizer_config.json,
// special_tokens_map.json, tokenizer.model and chat_template.jinja, as far as `folder` has them. A
// template that stands only in tokenizer_config.json becomes chat_template.jinja.
Result<std::map<std::string, std::string>> read_embedded_files(const std::filesystem::path& folder);

}  // namespace nmc
