// Chat templates: source, a line "%%%%", and the variables as JSON. Whatever the input, a rendering
// ends within its limits, marks its bytes in order, and gives the same answer twice.
#include <cstdlib>
#include <string_view>

#include "runtime/text/template/chat_template.h"

static void require(bool holds) {
  if (!holds) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kSeparator = "\n%%%%\n";
  size_t cut = input.find(kSeparator);
  nmc::Json variables = nmc::Json::object();
  if (cut != std::string_view::npos) {
    auto parsed = nmc::parse_json(input.substr(cut + kSeparator.size()), "variables");
    if (parsed.ok()) variables = std::move(*parsed);
  }
  nmc::TemplateOptions options;
  options.limits.steps = 200'000;
  options.limits.created_bytes = 8u << 20;
  options.limits.output_bytes = 1u << 20;
  options.clock = [] { return std::tm{.tm_mday = 1}; };
  auto compiled = nmc::compile_template(std::string(input.substr(0, cut)), options);
  if (!compiled.ok()) return 0;
  auto first = (*compiled)->render(variables);
  auto second = (*compiled)->render(variables);
  require(first.ok() == second.ok());
  if (!first.ok()) {
    require(first.status().message() == second.status().message());
    return 0;
  }
  require(first->text == second->text && first->literal == second->literal);
  require(first->text.size() <= options.limits.output_bytes);
  size_t at = 0;
  for (const nmc::TextSpan& span : first->literal) {
    require(span.begin < span.end && span.end <= first->text.size());
    require(at == 0 || span.begin > at);
    at = span.end;
  }
  return 0;
}
