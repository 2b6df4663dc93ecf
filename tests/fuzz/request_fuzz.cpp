// Request bodies of both generating endpoints: any bytes become a request within its ranges, or a
// status; and what a chat request says can be rendered without harm.
#include <cstdlib>

#include "runtime/text/template/chat_request.h"
#include "server/api/chat_completion_request.h"
#include "server/api/completion_request.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_options(const nmc::api::GenerationOptions& options, int64_t top_logprobs) {
  require(options.max_tokens >= 1);
  require(options.stop.size() <= 16);
  for (const std::string& stop : options.stop) require(!stop.empty() && stop.size() <= 256);
  require(top_logprobs >= -1 && top_logprobs <= nmc::api::kMaxTopLogprobs);
}

const nmc::ChatTemplate& chat_template() {
  static const auto compiled = nmc::compile_template(
      "{{ bos_token }}{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %}"
      "{% for m in messages %}<{{ m.role }}>{{ m.reasoning_content }}{{ m.content }}"
      "{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments | tojson }}"
      "{% endfor %}{% endfor %}");
  return **compiled;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto parsed = nmc::api::parse_body({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok()) return 0;
  const nmc::Json& body = *parsed;
  auto completion = nmc::api::parse_completion_request(body, {});
  if (completion.ok()) {
    check_options(completion->options, completion->top_logprobs);
    for (const auto& prompt : completion->prompts) {
      auto* ids = std::get_if<std::vector<int32_t>>(&prompt);
      for (int32_t id : ids ? *ids : std::vector<int32_t>()) require(id >= 0);
    }
  } else {
    require(!completion.status().message().empty());
  }
  auto chat = nmc::api::parse_chat_completion_request(body, {});
  if (chat.ok()) {
    check_options(chat->options, chat->top_logprobs);
    require(chat->tools == !chat->prompt.tools.is_null());
    const nmc::Json special = {{"bos_token", "<s>"}};
    auto prompt = nmc::render_chat(chat->prompt, chat_template(), {}, special);
    require(prompt.ok() || !prompt.status().message().empty());
  } else {
    require(!chat.status().message().empty());
  }
  return 0;
}
