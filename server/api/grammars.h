// Grammars over the vocabulary of the served model.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/engine/engine.h"
#include "runtime/text/grammar/grammar.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc::api {

// What an answer must fit, as the engine takes it. Empty: anything.
struct Constraint {
  std::shared_ptr<Grammar> grammar{};
  std::optional<int32_t> trigger{};  // free up to this token
};

// Compiles grammars and keeps the last ones, with the masks they have computed: agents send the
// same tools with every request. The vocabulary is prepared at the first one. Thread-safe.
class Grammars {
 public:
  using Build = std::function<Result<RuleId>(GrammarBuilder&)>;

  // Ids that the model has no row for are never produced; its end tokens end a text.
  Grammars(const Tokenizer& tokenizer, const ModelDescription& model)
      : tokenizer_(tokenizer), model_(model) {}

  // `key` says all that decides what `build` makes; `what` names it in errors.
  Result<std::shared_ptr<Grammar>> get(const std::string& key, const std::string& what,
                                       const Build& build);

  // The token of a marker; nothing if the vocabulary spells it as text.
  std::optional<int32_t> marker(const std::string& text) const;
  // How a marker is spelled in a grammar.
  std::string spelling(const std::string& marker) const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<Grammar> grammar;
  };

  std::shared_ptr<const GrammarVocabulary> vocabulary();
  std::shared_ptr<Grammar> find(const std::string& key);

  const Tokenizer& tokenizer_;
  const ModelDescription& model_;
  std::once_flag once_;
  std::shared_ptr<const GrammarVocabulary> vocabulary_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
};

}  // namespace nmc::api
