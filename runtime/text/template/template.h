// A compiled template: what ChatTemplate hides.
#pragma once

#include <string>

#include "runtime/text/template/chat_template.h"
#include "runtime/text/template/tree.h"

namespace nmc::jinja {

struct Template {
  std::string source;
  Body body;
  TemplateOptions options;
};

}  // namespace nmc::jinja
