#include "server/api/admission.h"

#include <random>

#include "server/api/error.h"

namespace nmc::api {

namespace {

http::Response refusal(const Status& status) {
  ApiError error = api_error(status);
  if (error.status == 500) error.status = 503;  // nothing of this request ran
  return error_response(error);
}

GenerationRequest engine_request(std::vector<int32_t> prompt, const GenerationOptions& options,
                                 int64_t top_logprobs) {
  return {.prompt = std::move(prompt),
          .max_tokens = options.max_tokens,
          .sampling = options.sampling,
          .ignore_eos = options.ignore_eos,
          .stop_tokens = options.stop_token_ids,
          .top_logprobs = top_logprobs,
          .prompt_logprobs = options.prompt_logprobs,
          .min_tokens = options.min_tokens,
          .grammar = options.constraint.grammar,
          .grammar_trigger = options.constraint.trigger,
          .deadline = options.deadline,
          .session = options.session};
}

}  // namespace

std::variant<Generations, http::Response> admit(const ServedModel& model,
                                                std::vector<std::vector<int32_t>> prompts,
                                                const GenerationOptions& options,
                                                int64_t top_logprobs) {
  const int64_t context = model.engine->context();
  for (const auto& prompt : prompts) {
    const auto size = static_cast<int64_t>(prompt.size());
    if (size >= context) return error_response(context_overflow(size, context));
  }
  const int64_t vocabulary = model.text.tokenizer->vocab_size();
  for (int32_t id : options.stop_token_ids) {
    if (id < vocabulary) continue;
    return error_response(invalid_argument("request: the field \"stop_token_ids\" holds " +
                                           std::to_string(id) + ", which is no token id"));
  }
  const auto answers = static_cast<int64_t>(prompts.size()) * options.n;
  if (answers > model.engine->max_queue()) {
    return error_response(invalid_argument("request: the fields \"prompt\" and \"n\" ask for " +
                                           std::to_string(answers) +
                                           " answers at once; this server's --max-queue is " +
                                           std::to_string(model.engine->max_queue())));
  }
  Generations generations;
  for (auto& prompt : prompts) {
    auto answers_to_it =
        model.engine->submit(engine_request(std::move(prompt), options, top_logprobs), options.n);
    if (!answers_to_it.ok()) return refusal(answers_to_it.status());
    for (auto& generation : *answers_to_it) {
      generations.push_back(std::make_shared<RunningGeneration>(std::move(generation)));
    }
  }
  return generations;
}

bool failed(RunEnd end, const Generation& generation) {
  return end == RunEnd::kFinished && generation.reason() == FinishReason::kError;
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
