// inspect --grammar: what a JSON Schema accepts, and what its masks cost.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/json.h"
#include "runtime/text/grammar/grammar.h"

namespace nmc {

Result<std::shared_ptr<Grammar>> compile_schema(
    const Json& schema, std::shared_ptr<const GrammarVocabulary> vocabulary);

// kInvalidArgument, with a sentence about the first byte that cannot follow, or about the end.
Status accepts_text(const std::shared_ptr<Grammar>& grammar, const std::string& text);

// Compiles the schema again and draws random tokens that its masks allow; a line of times.
Result<std::string> bench_masks(const Json& schema,
                                const std::shared_ptr<const GrammarVocabulary>& vocabulary);

}  // namespace nmc
