#include "server/api/admission.h"

#include <random>

#include "server/api/error.h"

namespace nmc::api {

std::variant<std::shared_ptr<RunningGeneration>, http::Response> admit(
    const ServedModel& model, std::vector<int32_t> prompt, const GenerationOptions& options,
    int64_t top_logprobs) {
  const int64_t context = model.engine->context();
  const auto size = static_cast<int64_t>(prompt.size());
  if (size >= context) return error_response(context_overflow(size, context));
  const int64_t vocabulary = model.tokenizer->vocab_size();
  for (int32_t id : options.stop_token_ids) {
    if (id < vocabulary) continue;
    return error_response(invalid_argument("request: the field \"stop_token_ids\" holds " +
                                           std::to_string(id) + ", which is no token id"));
  }
  auto generation = model.engine->submit({.prompt = std::move(prompt),
                                          .max_tokens = options.max_tokens,
                                          .sampling = options.sampling,
                                          .ignore_eos = options.ignore_eos,
                                          .stop_tokens = options.stop_token_ids,
                                          .top_logprobs = top_logprobs,
                                          .min_tokens = options.min_tokens,
                                          .grammar = options.constraint.grammar,
                                          .grammar_trigger = options.constraint.trigger});
  if (!generation.ok()) {
    ApiError error = api_error(generation.status());
    if (error.status == 500) error.status = 503;  // nothing of this request ran
    return error_response(error);
  }
  return std::make_shared<RunningGeneration>(std::move(generation).value());
}

bool failed(RunEnd end, const Generation& generation) {
  return end == RunEnd::kFinished && generation.reason() == FinishReason::kError;
}

http::Response failed_response(const Generation& generation) {
  return error_response(generation.status());
}

Json failed_event(const Generation& generation) {
  return error_json(api_error(generation.status()));
}

std::string random_id(const char* prefix) {
  static constexpr char kLetters[] =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::random_device device;
  std::uniform_int_distribution<size_t> letter(0, sizeof kLetters - 2);
  std::string id = prefix;
  for (int i = 0; i < 24; ++i) id += kLetters[letter(device)];
  return id;
}

}  // namespace nmc::api
