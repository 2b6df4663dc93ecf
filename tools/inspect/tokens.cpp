#include "tools/inspect/tokens.h"

#include <algorithm>
#include <vector>

#include "tools/inspect/model_text.h"

namespace nmc {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

Result<int32_t> id_of(const Json& value, int32_t vocab) {
  // Quoted as JSON, so that no byte of the file reaches a terminal as it is.
  if (!value.is_number_integer()) return invalid_argument(dump_json(value) + " is not a token id");
  // Unsigned values beyond int64 wrap to negative ones.
  const auto id = value.get<int64_t>();
  if (id < 0 || id >= vocab) {
    return invalid_argument("token " + dump_json(value) + " lies outside the vocabulary, 0 to " +
                            std::to_string(vocab - 1));
  }
  return static_cast<int32_t>(id);
}

// A list of JSON values: of a text that is one, or else of its words.
Result<Json> values_of(const std::string& text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first != std::string::npos && text[first] == '[') return parse_json(text, "the list of ids");
  Json values = Json::array();
  for (size_t at = first; at != std::string::npos; at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string word = text.substr(at, end - at);
    auto value = parse_json(word, "id");
    values.push_back(value.ok() ? std::move(value).value() : Json(word.substr(0, 40)));
    at = end;
  }
  return values;
}

}  // namespace

std::string ids_text(std::span<const int32_t> ids, bool json) {
  std::string text = json ? "[" : "";
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) text += json ? ',' : ' ';
    text += std::to_string(ids[i]);
  }
  return text + (json ? "]\n" : "\n");
}

Result<std::string> tokenize(const ModelFile& file, const std::string& text,
                             const TokenizeOptions& options) {
  NMC_ASSIGN(const auto tokenizer, tokenizer_of(file));
  return ids_text(options.bos ? tokenizer->encode_with_bos(text, options.special)
                              : tokenizer->encode(text, options.special),
                  options.json);
}

Result<std::string> detokenize(const ModelFile& file, const std::string& text) {
  NMC_ASSIGN(const auto tokenizer, tokenizer_of(file));
  NMC_ASSIGN(const Json values, values_of(text));
  std::vector<int32_t> ids;
  for (const Json& value : values) {
    NMC_ASSIGN(const int32_t id, id_of(value, tokenizer->vocab_size()));
    ids.push_back(id);
  }
  return tokenizer->decode(ids);
}

}  // namespace nmc
