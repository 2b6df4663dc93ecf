#include "tools/eval/input.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {
namespace {

constexpr uint64_t kMaxInputBytes = 1 << 30;
constexpr std::string_view kBlanks = " \t\r\v\f";

Result<int32_t> parse_id(std::string_view word, int64_t vocab) {
  int64_t id = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
    // Quoted as JSON, so that no byte of the file reaches a terminal as it is.
    return invalid_argument(dump_json(word.substr(0, 40)) + " is not a token id");
  }
  if (error != std::errc() || id < 0 || id >= vocab) {
    return invalid_argument("token " + std::string(word.substr(0, 40)) +
                            " lies outside the vocabulary, 0 to " + std::to_string(vocab - 1));
  }
  return static_cast<int32_t>(id);
}

Result<std::vector<int32_t>> parse_line(std::string_view line, const ModelDescription& model,
                                        int64_t room) {
  std::vector<int32_t> ids;
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;
       at = line.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    NMC_ASSIGN(int32_t id, parse_id(line.substr(at, end - at), model.vocab));
    ids.push_back(id);
    at = end;
  }
  if (ids.empty()) return invalid_argument("the line is empty; every line must hold a token id");
  const auto count = static_cast<int64_t>(ids.size());
  if (count + room > model.max_context) {
    return invalid_argument(std::to_string(count) + " tokens" +
                            (room > 0 ? " and " + std::to_string(room) + " more" : "") +
                            " exceed the model's context of " + std::to_string(model.max_context));
  }
  return ids;
}

// Absent files are empty, as TokenizerFiles has it.
Result<std::string> embedded_or_empty(const ModelFile& file, const std::string& name) {
  if (!file.has_embedded(name)) return std::string();
  return file.embedded(name);
}

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const ModelFile& file) {
  TokenizerFiles files;
  NMC_ASSIGN(files.tokenizer_json, embedded_or_empty(file, "tokenizer.json"));
  NMC_ASSIGN(files.tokenizer_config_json, embedded_or_empty(file, "tokenizer_config.json"));
  NMC_ASSIGN(files.sentencepiece_model, embedded_or_empty(file, "tokenizer.model"));
  if (files.tokenizer_json.empty() && files.sentencepiece_model.empty()) {
    return not_found(file.path().string() + " carries no tokenizer; use --tokens");
  }
  return load_tokenizer(files);
}

}  // namespace

Result<std::vector<EvalSequence>> read_token_lines(const std::filesystem::path& path,
                                                   const ModelDescription& model, int64_t room) {
  NMC_ASSIGN(const std::string text, read_file(path, kMaxInputBytes));
  std::vector<EvalSequence> sequences;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string number = std::to_string(sequences.size() + 1);
    auto ids = parse_line(std::string_view(text).substr(at, end - at), model, room);
    if (!ids.ok()) return ids.status().with_context(path.string() + ", line " + number);
    sequences.push_back({"line " + number, std::move(ids).value()});
    at = end + 1;
  }
  if (sequences.empty()) return invalid_argument(path.string() + " holds no tokens");
  return sequences;
}

Result<std::vector<EvalSequence>> read_text(const std::filesystem::path& path,
                                            const ModelFile& file) {
  NMC_ASSIGN(const std::string text, read_file(path, kMaxInputBytes));
  if (text.empty()) return invalid_argument(path.string() + " is empty");
  NMC_ASSIGN(const auto tokenizer, open_tokenizer(file));
  const std::vector<int32_t> ids = tokenizer->encode_with_bos(text, /*parse_special=*/false);
  if (ids.empty()) return invalid_argument(path.string() + " makes no tokens");
  for (int32_t id : ids) {
    if (id >= file.model().vocab) {
      return corrupt(file.path().string() + ": its tokenizer makes id " + std::to_string(id) +
                     ", but the model has only " + std::to_string(file.model().vocab));
    }
  }
  const std::optional<int32_t> bos = tokenizer->bos_id();
  const bool repeat_bos = bos && ids.front() == *bos && file.model().max_context > 1;
  std::vector<EvalSequence> parts;
  for (size_t at = 0; at < ids.size();) {
    EvalSequence part{.label = "part " + std::to_string(parts.size() + 1), .tokens = {}};
    if (at > 0 && repeat_bos) part.tokens.push_back(*bos);
    const size_t room = static_cast<size_t>(file.model().max_context) - part.tokens.size();
    const size_t take = std::min(room, ids.size() - at);
    part.tokens.insert(part.tokens.end(), ids.begin() + static_cast<ptrdiff_t>(at),
                       ids.begin() + static_cast<ptrdiff_t>(at + take));
    parts.push_back(std::move(part));
    at += take;
  }
  return parts;
}

}  // namespace nmc
