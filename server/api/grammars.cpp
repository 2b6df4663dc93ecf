#include "server/api/grammars.h"

#include <algorithm>

#include "runtime/text/chat/grammar_vocabulary.h"

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
    vocabulary_ = grammar_vocabulary(tokenizer_, model_.vocab, model_.eos_tokens);
  });
  return vocabulary_;
}

}  // namespace nmc::api
