#include "server/api/completion_request.h"

#include "runtime/text/chat/request_fields.h"

namespace nmc::api {
namespace {

constexpr int64_t kDefaultMaxTokens = 16;

constexpr size_t kMostPrompts = 128;

Status bad_prompt() {
  return invalid_argument(
      "request: the field \"prompt\" must be a string, a list of token ids, or a list of up to 128 "
      "such prompts");
}

Result<Prompt> parse_one_prompt(const Json& prompt) {
  if (prompt.is_string()) return Prompt(prompt.get<std::string>());
  if (!prompt.is_array() || prompt.empty()) return bad_prompt();
  NMC_ASSIGN(auto ids, parse_token_ids(prompt, "prompt", int64_t{1} << 31));
  return Prompt(std::move(ids));
}

Result<std::vector<Prompt>> parse_prompts(const Json& body) {
  auto it = body.find("prompt");
  if (it == body.end()) return invalid_argument("request: the field \"prompt\" is missing");
  std::vector<Prompt> prompts;
  bool one = !it->is_array() || it->empty() || it->front().is_number();
  const Json list = one ? Json::array({*it}) : *it;
  if (list.size() > kMostPrompts) return bad_prompt();
  for (const Json& item : list) {
    NMC_ASSIGN(Prompt prompt, parse_one_prompt(item));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

}  // namespace

Result<CompletionRequest> parse_completion_request(const Json& body,
                                                   const SamplingParams& defaults) {
  CompletionRequest request;
  NMC_ASSIGN(request.prompts, parse_prompts(body));
  NMC_ASSIGN(request.echo, json_bool(body, "echo", kRequest, false));
  // Who reads the prompt back may want nothing else.
  NMC_ASSIGN(request.options, parse_generation_options(body, defaults, request.echo ? 0 : 1));
  if (request.options.max_tokens == INT64_MAX) request.options.max_tokens = kDefaultMaxTokens;
  NMC_ASSIGN(request.skip_special_tokens, json_bool(body, "skip_special_tokens", kRequest, true));
  if (body.contains("logprobs") && !body["logprobs"].is_null()) {
    NMC_ASSIGN(request.top_logprobs, json_int(body, "logprobs", kRequest));
    if (request.top_logprobs < 0 || request.top_logprobs > kMaxTopLogprobs) {
      return invalid_argument("request: the field \"logprobs\" must be between 0 and 20");
    }
  }
  request.options.prompt_logprobs = request.echo && request.top_logprobs >= 0;
  NMC_ASSIGN(std::string suffix, json_string(body, "suffix", kRequest, ""));
  if (!suffix.empty()) {
    return unsupported(
        "request: text after the answer (the field \"suffix\") is not supported yet");
  }
  return request;
}

}  // namespace nmc::api
