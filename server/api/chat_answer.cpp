#include "server/api/chat_answer.h"

#include <algorithm>

#include "runtime/text/chat/encode_prompt.h"
#include "server/api/admission.h"
#include "server/api/answer_grammar.h"
#include "server/api/error.h"

namespace nmc::api {
namespace {

struct Prepared {
  std::vector<int32_t> prompt;
  StartMode start;
  bool citations;
};

// Whether the template's own words tell the model how to cite. What users wrote does not count.
bool asks_for_citations(const RenderedPrompt& prompt) {
  size_t at = 0;
  const std::string_view text = prompt.text;
  auto told = [&](size_t end) { return text.substr(at, end - at).find("<co") != text.npos; };
  for (const TextSpan& span : prompt.literal) {
    if (told(span.begin)) return true;
    at = span.end;
  }
  return told(text.size());
}

// Adds to the request what its prompt and tools decide.
Result<Prepared> prepare(const ServedModel& model, ChatCompletionRequest* request) {
  NMC_ASSIGN(RenderedPrompt prompt, render_chat(model.text, request->prompt));
  const StartMode start = start_mode(model.text.dialect, prompt.text);
  NMC_ASSIGN(request->options.constraint,
             chat_constraint(*model.grammars, model.text.dialect, start, *request));
  if (request->choice.mode == ToolChoice::Mode::kNone) {
    ban_calls(*model.grammars, model.text.dialect, &request->options.sampling.logit_bias);
  }
  if (start == StartMode::kReasoning) {
    NMC_TRY(limit_reasoning(*model.grammars, model.text.dialect, request));
  }
  const Json& documents = request->prompt.documents;
  const bool cites = (documents.is_array() && !documents.empty()) || asks_for_citations(prompt);
  return Prepared{encode_prompt(*model.text.tokenizer, prompt), start, cites};
}

}  // namespace

Result<std::vector<int32_t>> chat_prompt_tokens(const ServedModel& model,
                                                const ChatCompletionRequest& request) {
  NMC_ASSIGN(RenderedPrompt prompt, render_chat(model.text, request.prompt));
  return encode_prompt(*model.text.tokenizer, prompt);
}

std::variant<std::shared_ptr<ChatAnswer>, http::Response> ChatAnswer::start(
    const Call& call, ChatCompletionRequest request) {
  const ServedModel& model = call.model;
  auto prepared = prepare(model, &request);
  if (!prepared.ok()) return error_response(prepared.status());
  const ChatOutputOptions output = {.dialect = model.text.dialect,
                                    .start = prepared->start,
                                    .tools = request.tools,
                                    .parallel_calls = request.parallel_calls,
                                    .json_answer = request.options.format.is_json(),
                                    .citations = prepared->citations,
                                    .declared = request.prompt.tools,
                                    .keep_tokens = request.top_logprobs >= 0,
                                    .stop = request.options.stop};
  auto admitted =
      admit(model, {std::move(prepared->prompt)}, request.options, request.top_logprobs);
  if (auto* refusal = std::get_if<http::Response>(&admitted)) return std::move(*refusal);
  std::shared_ptr<ChatAnswer> answer(new ChatAnswer);
  answer->generations_ = std::move(std::get<0>(admitted));
  for (size_t i = 0; i < answer->generations_.size(); ++i) {
    answer->outputs_.emplace_back(*model.text.tokenizer, output);
  }
  answer->request_ = std::move(request);
  return answer;
}

Status ChatAnswer::run(http::Client& client, const RunControl& control, ChatSink& sink) {
  std::vector<ChatDelta> deltas;
  Status status;
  auto hand_over = [&](size_t i) {
    for (ChatDelta& delta : deltas) sink.delta(i, std::move(delta));
    deltas.clear();
  };
  run_generations(generations_, client, control,
                  {.on_token =
                       [&](size_t i, const GeneratedToken& token) {
                         bool more = outputs_[i].push(token, &deltas);
                         hand_over(i);
                         return more && sink.ok() && status.ok();
                       },
                   .on_end =
                       [&](size_t i, RunEnd end) {
                         if (failed(end, **generations_[i])) status = (*generations_[i])->status();
                         if (!status.ok()) return;
                         const char* reason = finish_reason(end, **generations_[i]);
                         outputs_[i].finish(std::string_view(reason) == "length", &deltas);
                         hand_over(i);
                         sink.end(i, end_of(i, end));
                       },
                   .on_idle = [&] { sink.idle(); }});
  return status;
}

// Calls that were cut stay "length": they are not to be run.
ChatEnd ChatAnswer::end_of(size_t choice, RunEnd end) const {
  const ChatOutput& output = outputs_[choice];
  ChatEnd result{.reason = finish_reason(end, **generations_[choice]),
                 .stop_string = output.stop_string()};
  if (output.has_calls() && std::string_view(result.reason) == "stop") {
    result.reason = "tool_calls";
  }
  return result;
}

Usage ChatAnswer::usage() const {
  Usage usage = usage_of(generations_, generations_.size());
  for (const ChatOutput& output : outputs_) usage.reasoning += output.reasoning_tokens();
  return usage;
}

}  // namespace nmc::api
