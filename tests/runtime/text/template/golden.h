// Goldens of the template tests, made by make_goldens.py.
#pragma once

#include <string>

#include "runtime/base/json.h"
#include "runtime/text/template/chat_template.h"

namespace nmc {

// tests/runtime/text/template/`path` as JSON; fails the test when it cannot be read.
Json golden_json(const std::string& path);

// The options under which goldens are made: a clock that stands still.
TemplateOptions golden_options();

// Compiles and renders; the text, or "failed: " and the reason.
std::string render_text(const std::string& source, const Json& variables);

// Checks `text` (from render_text) against a golden object with "expect" or "fails".
void expect_golden(const std::string& text, const Json& golden, const std::string& what);

}  // namespace nmc
