// What a model file holds, for people and for programs.
#pragma once

#include <string>

#include "runtime/base/json.h"
#include "runtime/format/model_file.h"

namespace nmc {

// A page of text: the model, the embedded files, every tensor with its place.
std::string report_text(const ModelFile& file);

// The same and more as one JSON object; its keys are documented in docs/format.md and stay.
Json report_json(const ModelFile& file);

// `text` with control characters replaced: names in a file must not drive the terminal.
std::string printable(std::string text);

}  // namespace nmc
