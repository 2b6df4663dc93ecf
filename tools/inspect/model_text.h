// The parts of a model file that decide how text becomes tokens, and tokens text.
#pragma once

#include <memory>
#include <string>

#include "runtime/format/model_file.h"
#include "runtime/text/dialect/dialect.h"
#include "runtime/text/grammar/grammar.h"
#include "runtime/text/template/chat_template.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

// kNotFound when the model carries none.
Result<std::unique_ptr<Tokenizer>> tokenizer_of(const ModelFile& file);
Result<std::unique_ptr<ChatTemplate>> chat_template_of(const ModelFile& file);

// The "..._token" entries of special_tokens_map.json and tokenizer_config.json, as a template's
// variables: {"bos_token": "<s>", ...}. The second file wins.
Result<Json> special_tokens_of(const ModelFile& file);

// kPlain for a model without a chat template.
Result<Dialect> dialect_of(const ModelFile& file);

// Added tokens are markers, which only a grammar's markers allow; those of white space are text.
std::shared_ptr<const GrammarVocabulary> grammar_vocabulary(const Tokenizer& tokenizer,
                                                            const ModelDescription& model);

}  // namespace nmc
