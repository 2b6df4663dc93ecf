#include "runtime/text/tokenizer/tokenizer_config.h"

#include <charconv>

namespace nmc::tok {
namespace {

constexpr const char* kConfigFile = "tokenizer_config.json";

// A token is written as its string or as an object with "content".
Result<std::string> token_string(const Json& config, const char* key) {
  auto it = config.find(key);
  if (it != config.end() && it->is_object())
    return json_string(*it, "content", std::string(kConfigFile) + ": " + key);
  return json_string(config, key, kConfigFile, "");
}

Result<std::optional<bool>> optional_bool(const Json& config, const char* key) {
  auto it = config.find(key);
  if (it == config.end() || it->is_null()) return std::optional<bool>();
  NMC_ASSIGN(bool value, json_bool(config, key, kConfigFile));
  return std::optional<bool>(value);
}

}  // namespace

Result<TokenizerConfig> read_tokenizer_config(std::string_view text) {
  TokenizerConfig out;
  if (text.empty()) return out;
  NMC_ASSIGN(Json config, parse_json(text, kConfigFile));
  if (!config.is_object())
    return invalid_argument(std::string(kConfigFile) + ": the document must be an object");
  NMC_ASSIGN(out.bos_token, token_string(config, "bos_token"));
  NMC_ASSIGN(out.eos_token, token_string(config, "eos_token"));
  NMC_ASSIGN(out.add_bos, optional_bool(config, "add_bos_token"));
  NMC_ASSIGN(out.add_eos, optional_bool(config, "add_eos_token"));
  NMC_ASSIGN(out.legacy, optional_bool(config, "legacy"));

  auto table = config.find("added_tokens_decoder");
  if (table == config.end() || table->is_null()) return out;
  if (!table->is_object()) {
    return invalid_argument(std::string(kConfigFile) +
                            ": the field \"added_tokens_decoder\" must be an object");
  }
  // The same entries as tokenizer.json's list, keyed by id.
  for (const auto& [key, entry] : table->items()) {
    std::string what = std::string(kConfigFile) + ": added_tokens_decoder[\"" + key + "\"]";
    int64_t id = 0;
    auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size())
      return invalid_argument(what + ": the key must be an id");
    NMC_ASSIGN(AddedToken token, read_added_token(entry, id, what));
    out.added.push_back(std::move(token));
  }
  return out;
}

}  // namespace nmc::tok
