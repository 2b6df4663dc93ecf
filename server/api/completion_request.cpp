#include "server/api/completion_request.h"

namespace nmc::api {
namespace {

constexpr int64_t kDefaultMaxTokens = 16;

Status bad_prompt() {
  return invalid_argument(
      "request: the field \"prompt\" must be a string, a list of token ids, or a list of one such "
      "prompt");
}

Result<Prompt> parse_prompt(const Json& body) {
  auto it = body.find("prompt");
  if (it == body.end()) return invalid_argument("request: the field \"prompt\" is missing");
  const Json* prompt = &*it;
  bool nested = prompt->is_array() && !prompt->empty() && !prompt->front().is_number();
  if (nested && prompt->size() > 1) {
    return unsupported("request: more than one prompt (the field \"prompt\") is not supported yet");
  }
  if (nested) prompt = &prompt->front();
  if (prompt->is_string()) return Prompt(prompt->get<std::string>());
  if (!prompt->is_array()) return bad_prompt();
  NMC_ASSIGN(auto ids, parse_token_ids(*prompt, "prompt", int64_t{1} << 31));
  return Prompt(std::move(ids));
}

}  // namespace

Result<CompletionRequest> parse_completion_request(std::string_view text,
                                                   const SamplingParams& defaults) {
  NMC_ASSIGN(Json body, parse_body(text));
  CompletionRequest request;
  NMC_ASSIGN(request.prompt, parse_prompt(body));
  NMC_ASSIGN(request.options, parse_generation_options(body, defaults));
  if (request.options.max_tokens == INT64_MAX) request.options.max_tokens = kDefaultMaxTokens;
  NMC_ASSIGN(request.echo, json_bool(body, "echo", kRequest, false));
  NMC_ASSIGN(request.skip_special_tokens, json_bool(body, "skip_special_tokens", kRequest, true));
  NMC_ASSIGN(request.top_logprobs, json_int(body, "logprobs", kRequest, -1));
  if (request.top_logprobs < -1 || request.top_logprobs > kMaxTopLogprobs) {
    return invalid_argument("request: the field \"logprobs\" must be between 0 and 20");
  }
  if (request.echo && request.top_logprobs >= 0) {
    return unsupported(
        "request: log-probabilities of the prompt (the field \"logprobs\" together "
        "with \"echo\") are not supported yet");
  }
  NMC_ASSIGN(std::string suffix, json_string(body, "suffix", kRequest, ""));
  if (!suffix.empty()) {
    return unsupported(
        "request: text after the answer (the field \"suffix\") is not supported yet");
  }
  return request;
}

}  // namespace nmc::api
