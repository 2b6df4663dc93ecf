#include "runtime/text/template/chat_template.h"

#include "runtime/base/text.h"
#include "runtime/text/template/from_json.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/parser.h"
#include "runtime/text/template/template.h"

namespace nmc {

ChatTemplate::ChatTemplate(std::unique_ptr<const jinja::Template> compiled)
    : compiled_(std::move(compiled)) {}

ChatTemplate::~ChatTemplate() = default;

Result<RenderedPrompt> ChatTemplate::render(const Json& variables) const {
  NMC_ASSIGN(auto values, jinja::variables_from_json(variables, compiled_->options.limits.depth));
  return jinja::Interpreter(*compiled_, values).run();
}

const std::string& ChatTemplate::source() const {
  return compiled_->source;
}

bool ChatTemplate::mentions(std::string_view word) const {
  return compiled_->source.find(word) != std::string::npos;
}

Result<std::unique_ptr<ChatTemplate>> compile_template(std::string source,
                                                       TemplateOptions options) {
  if (source.size() > options.limits.source_bytes) {
    return invalid_argument("the chat template is longer than " +
                            std::to_string(options.limits.source_bytes) + " bytes");
  }
  auto compiled = std::make_unique<jinja::Template>();
  compiled->source = valid_utf8(source);
  compiled->options = std::move(options);
  NMC_ASSIGN(auto tokens, jinja::tokenize(compiled->source));
  jinja::Parser parser(std::move(tokens), compiled->options.limits.depth);
  NMC_ASSIGN(compiled->body, parser.parse());
  return std::make_unique<ChatTemplate>(std::move(compiled));
}

}  // namespace nmc
