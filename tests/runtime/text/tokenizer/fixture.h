// Tokenizers for the tests: those of the folder fixtures/, and small ones made on the spot.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

using Ids = std::vector<int32_t>;
inline constexpr uint64_t kFileLimit = 1u << 26;

inline std::string source_file(const std::string& path) {
  auto text = read_file(std::string(NMC_SOURCE_DIR "/") + path, kFileLimit);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

inline std::string fixture_path(const std::string& name) {
  return "tests/runtime/text/tokenizer/fixtures/" + name + ".json";
}

inline std::unique_ptr<Tokenizer> load(std::string json, std::string config = "") {
  TokenizerFiles files;
  files.tokenizer_json = std::move(json);
  files.tokenizer_config_json = std::move(config);
  auto r = load_tokenizer(files);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? std::move(r).value() : nullptr;
}

inline std::string load_error(std::string json, std::string config = "") {
  TokenizerFiles files;
  files.tokenizer_json = std::move(json);
  files.tokenizer_config_json = std::move(config);
  auto r = load_tokenizer(files);
  return r.ok() ? "" : r.status().message();
}

// A tokenizer whose words are seen as tokens: characters a-z, digits, space and a few merges, no
// byte alphabet. `changes` replaces top-level fields.
inline Json small_json(const Json& changes = Json::object()) {
  Json vocab = Json::object();
  int id = 0;
  for (char c = 'a'; c <= 'z'; ++c) vocab[std::string(1, c)] = id++;
  for (char c = '0'; c <= '9'; ++c) vocab[std::string(1, c)] = id++;
  for (const char* s : {" ", "-", "ab", "abc", "cd", "é"}) vocab[s] = id++;
  Json merges = {"a b", "ab c", "c d"};
  Json model = {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}};
  Json json = {{"added_tokens", Json::array()}, {"normalizer", nullptr}, {"pre_tokenizer", nullptr},
               {"post_processor", nullptr},     {"decoder", nullptr},    {"model", model}};
  for (const auto& [key, value] : changes.items()) json[key] = value;
  return json;
}

// The decoded ids, one string each: what the text was cut into.
inline std::vector<std::string> tokens_of(const Tokenizer& t, const Ids& ids) {
  std::vector<std::string> out;
  for (int32_t id : ids) out.emplace_back(t.token_bytes(id));
  return out;
}

}  // namespace nmc
