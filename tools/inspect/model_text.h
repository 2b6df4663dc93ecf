// The parts of a model file that decide how text becomes tokens, and tokens text.
#pragma once

#include <memory>

#include "runtime/format/model_file.h"
#include "runtime/text/chat/text_model.h"
#include "runtime/text/grammar/grammar.h"

namespace nmc {

// kNotFound when the model carries none. Needs no template that compiles.
Result<std::unique_ptr<Tokenizer>> tokenizer_of(const ModelFile& file);

Result<TextModel> text_model_of(const ModelFile& file);

// kPlain for a model without a chat template.
Result<Dialect> dialect_of(const ModelFile& file);

Result<std::shared_ptr<const GrammarVocabulary>> grammar_vocabulary_of(const ModelFile& file);

}  // namespace nmc
