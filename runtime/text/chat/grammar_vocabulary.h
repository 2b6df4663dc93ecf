// A tokenizer's vocabulary, as grammars see it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/text/grammar/grammar.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

// Added tokens are markers, which only a grammar's markers allow; those of white space are text.
// Ids from `model_vocab` on, for which the model has no row, are never produced. `end_tokens` end a
// text. Takes about a second for a large vocabulary.
std::shared_ptr<const GrammarVocabulary> grammar_vocabulary(const Tokenizer& tokenizer,
                                                            int64_t model_vocab,
                                                            std::span<const int32_t> end_tokens);

}  // namespace nmc
