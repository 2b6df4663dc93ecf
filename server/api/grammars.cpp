#include "server/api/grammars.h"

#include <algorithm>

namespace nmc::api {
namespace {

constexpr size_t kKept = 16;

}  // namespace

Result<std::shared_ptr<Grammar>> Grammars::get(const std::string& key, const std::string& what,
                                               const Build& build) {
  if (auto known = find(key)) return known;
  GrammarBuilder builder;
  NMC_ASSIGN(RuleId root, build(builder));
  auto compiled = Grammar::compile(builder, root, vocabulary());
  if (!compiled.ok()) return compiled.status().with_context(what);
  std::shared_ptr<Grammar> grammar = std::move(compiled).value();
  std::lock_guard lock(mutex_);
  entries_.push_front({key, grammar});
  if (entries_.size() > kKept) entries_.pop_back();
  return grammar;
}

std::shared_ptr<Grammar> Grammars::find(const std::string& key) {
  std::lock_guard lock(mutex_);
  auto it = std::find_if(entries_.begin(), entries_.end(),
                         [&](const Entry& entry) { return entry.key == key; });
  if (it == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it);
  return entries_.front().grammar;
}

std::optional<int32_t> Grammars::marker(const std::string& text) const {
  auto id = tokenizer_.find(text);
  bool usable = id && tokenizer_.is_added(*id) && *id < model_.vocab;
  return usable ? id : std::nullopt;
}

std::string Grammars::spelling(const std::string& text) const {
  auto id = marker(text);
  return id ? special_spelling(*id) : text;
}

std::shared_ptr<const GrammarVocabulary> Grammars::vocabulary() {
  std::call_once(once_, [&] {
    const auto size =
        static_cast<int32_t>(std::min<int64_t>(tokenizer_.vocab_size(), model_.vocab));
    std::vector<std::string> spellings;
    spellings.reserve(static_cast<size_t>(size));
    for (int32_t id = 0; id < size; ++id) spellings.push_back(token_spelling(id));
    std::vector<int32_t> ends;
    for (int32_t id : model_.eos_tokens) {
      if (id >= 0 && id < size) ends.push_back(id);
    }
    vocabulary_ = std::make_shared<GrammarVocabulary>(spellings, std::move(ends));
  });
  return vocabulary_;
}

// Added tokens of white space are text; all others are markers. The byte 0xff begins the spelling
// of a marker and is no part of any text, so that the tokens that hold it are left out.
std::string Grammars::token_spelling(int32_t id) const {
  std::string_view bytes = tokenizer_.token_bytes(id);
  bool blank = bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
  bool marker = tokenizer_.is_special(id) || (tokenizer_.is_added(id) && !blank);
  if (marker) return special_spelling(id);
  return bytes.find('\xff') == std::string_view::npos ? std::string(bytes) : "";
}

}  // namespace nmc::api
