#include "server/api/admission.h"
#include "server/api/answer_grammar.h"
#include "server/api/chat_chunks.h"
#include "server/api/chat_completion_request.h"
#include "server/api/chat_prompt.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/event_stream.h"

namespace nmc::api {
namespace {

// One answer, made either way from the same deltas.
struct ChatAnswer {
  std::shared_ptr<RunningGeneration> generation;
  ChatOutput output;
  ChatIdentity identity;
  bool logprobs;
  bool include_usage;

  Usage usage() const {
    auto progress = (*generation)->progress();
    return {progress.prompt_tokens, progress.cached_tokens, output.tokens(),
            output.reasoning_tokens()};
  }

  // Calls that were cut stay "length": they are not to be run.
  const char* reason(RunEnd end) const {
    const char* reason = finish_reason(end, **generation);
    return output.has_calls() && std::string_view(reason) == "stop" ? "tool_calls" : reason;
  }

  // Runs to the end; each step's deltas go to `emit`, and `emit` says whether to go on.
  RunEnd run(http::Client& client, const RunControl& control,
             const std::function<bool(std::vector<ChatDelta>&)>& emit,
             const std::function<void()>& on_idle) {
    std::vector<ChatDelta> deltas;
    RunEnd end = run_generation(
        **generation, client, control,
        [&](const GeneratedToken& token) {
          deltas.clear();
          bool more = output.push(token, &deltas);
          return emit(deltas) && more;
        },
        on_idle);
    deltas.clear();
    output.finish(std::string_view(finish_reason(end, **generation)) == "length", &deltas);
    emit(deltas);
    return end;
  }
};

http::Response whole(const Call& call, ChatAnswer& answer) {
  std::vector<ChatDelta> all;
  RunEnd end = answer.run(
      call.client, call.control,
      [&](std::vector<ChatDelta>& deltas) {
        std::move(deltas.begin(), deltas.end(), std::back_inserter(all));
        return true;
      },
      [] {});
  if (failed(end, **answer.generation)) return failed_response(**answer.generation);
  return json_response(chat_completion(call.model, answer.identity, all, answer.logprobs,
                                       answer.reason(end), answer.usage()));
}

void stream(const ServedModel& model, const RunControl& control, ChatAnswer& answer,
            http::StreamWriter& out) {
  ChatChunks chunks(model, answer.identity, answer.logprobs);
  EventStream events(out, control.ping);
  events.send(chunks.role());
  RunEnd end = answer.run(
      out, control,
      [&](std::vector<ChatDelta>& deltas) {
        for (const ChatDelta& delta : deltas) events.send(chunks.delta(delta));
        return events.ok();
      },
      [&] { events.ping_if_due(); });
  if (failed(end, **answer.generation)) {
    events.send(failed_event(**answer.generation));
  } else {
    events.send(chunks.finish(answer.reason(end)));
    if (answer.include_usage) events.send(chunks.usage(answer.usage()));
  }
  events.done();
}

}  // namespace

http::Response chat_completions(const Call& call) {
  const ServedModel& model = call.model;
  auto request = parse_chat_completion_request(call.request.body, model.defaults);
  if (!request.ok()) return error_response(request.status());
  auto prompt = render(model, request->prompt);
  if (!prompt.ok()) return error_response(prompt.status());
  const StartMode start = start_mode(model.dialect, prompt->text);
  auto constraint = chat_constraint(*model.grammars, model.dialect, start, *request);
  if (!constraint.ok()) return error_response(constraint.status());
  request->options.constraint = std::move(*constraint);
  if (request->choice.mode == ToolChoice::Mode::kNone) {
    ban_calls(*model.grammars, model.dialect, &request->options.sampling.logit_bias);
  }
  auto admitted =
      admit(model, encode(*model.tokenizer, *prompt), request->options, request->top_logprobs);
  if (auto* refusal = std::get_if<http::Response>(&admitted)) return std::move(*refusal);

  bool logprobs = request->top_logprobs >= 0;
  auto answer = std::make_shared<ChatAnswer>(ChatAnswer{
      .generation = std::get<std::shared_ptr<RunningGeneration>>(admitted),
      .output = ChatOutput(*model.tokenizer, {.dialect = model.dialect,
                                              .start = start,
                                              .tools = request->tools,
                                              .parallel_calls = request->parallel_calls,
                                              .json_answer = request->options.format.is_json(),
                                              .keep_tokens = logprobs,
                                              .stop = std::move(request->options.stop)}),
      .identity = {random_id("chatcmpl-"), std::time(nullptr)},
      .logprobs = logprobs,
      .include_usage = request->options.include_usage});
  if (!request->options.stream) return whole(call, *answer);

  http::Response response;
  response.content_type = kEventStream;
  response.stream = [&model, &control = call.control, answer](http::StreamWriter& out) {
    stream(model, control, *answer, out);
  };
  return response;
}

}  // namespace nmc::api
