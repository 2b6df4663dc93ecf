// config.json of a checkpoint → ModelDescription, and the description's own JSON form.
#pragma once

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/model/description.h"

namespace nmc {

// Reads a Hugging Face config.json (the object itself, or its `text_config` when it wraps one).
// Takes every key that changes what is computed; a value that nmc does not compute is refused by
// name. Missing keys take transformers' class defaults (model.md §1.2). Unknown keys are ignored.
Result<ModelDescription> description_from_config(const Json& config);

// Adds the end-of-sequence ids of generation_config.json, which may list more than config.json, and
// checks them against the vocabulary.
Status add_generation_config(const Json& generation_config, ModelDescription* model);

enum class FieldNames {
  kConfig,  // those of a config.json
  kHeader,  // those of a .nmc header
};

// Checks that the numbers make a model: positive, divisible where they must be, bounded so that no
// later size overflows. `what` and `names` name file and field in the error.
Status check_description(const ModelDescription& model, std::string_view what, FieldNames names);

// The form stored in a .nmc header (docs/format.md). Parsing checks like check_description.
Json description_to_json(const ModelDescription& model);
Result<ModelDescription> description_from_json(const Json& json, std::string_view what);

}  // namespace nmc
