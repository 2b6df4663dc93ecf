// Chat templates: the subset of Jinja that Hugging Face models use, with the same bytes as output.
//
// Settings are those of transformers: trim_blocks, lstrip_blocks, loop controls, an immutable
// sandbox, `tojson` as json.dumps writes it, `raise_exception`, `strftime_now`, and
// `{% generation %}` read and ignored. Semantics follow Jinja 3.1 on Python 3.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/template/rendered_prompt.h"

namespace nmc {

// A template comes with a model file and is not trusted: what one rendering may use.
struct TemplateLimits {
  uint64_t source_bytes = 1u << 20;
  uint64_t output_bytes = 64u << 20;
  uint64_t steps = 50'000'000;        // evaluated nodes, and the work of built-ins
  uint64_t created_bytes = 1u << 30;  // all strings and lists made on the way, freed ones too
  int depth = 200;                    // nesting of the source and of values
  int calls = 1000;                   // nesting of evaluation, macros included
};

struct TemplateOptions {
  TemplateLimits limits;
  // Local time for `strftime_now`; called on the rendering thread, so it must be thread-safe.
  // Empty: the system's clock.
  std::function<std::tm()> clock;
};

namespace jinja {
struct Template;
}

// A compiled template. Immutable: any number of threads may render at once.
class ChatTemplate {
 public:
  explicit ChatTemplate(std::unique_ptr<const jinja::Template> compiled);
  ~ChatTemplate();

  // Renders with `variables`, a JSON object. Strings in it count as literal (see RenderedPrompt),
  // except variables whose name ends in "_token" and the `role` of a message when it is one of the
  // well-known roles. Every failure is an invalid_argument: the sentence of `raise_exception`, or
  // the line of the template and the cause.
  Result<RenderedPrompt> render(const Json& variables) const;

  const std::string& source() const;
  // Whether the source contains `word`, e.g. the name of a role, a field or a switch.
  bool mentions(std::string_view word) const;

 private:
  std::unique_ptr<const jinja::Template> compiled_;
};

// Parses `source`. Errors: invalid_argument with the line for what is not Jinja, unsupported for
// Jinja that chat templates have no use for (include, import, extends).
Result<std::unique_ptr<ChatTemplate>> compile_template(std::string source,
                                                       TemplateOptions options = {});

}  // namespace nmc
