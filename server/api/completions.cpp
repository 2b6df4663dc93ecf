#include "runtime/text/tokenizer/detokenizer.h"
#include "server/api/admission.h"
#include "server/api/answer_grammar.h"
#include "server/api/completion_request.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/event_stream.h"
#include "server/api/logprobs.h"
#include "server/api/usage.h"
#include "server/api/visible_text.h"

namespace nmc::api {
namespace {

// One answer, made either way from the same pieces.
class CompletionAnswer {
 public:
  CompletionAnswer(const ServedModel& model, std::shared_ptr<RunningGeneration> generation,
                   CompletionRequest request)
      : model_(model),
        generation_(std::move(generation)),
        request_(std::move(request)),
        detokenizer_(*model.tokenizer),
        text_(request_.options.stop, logprobs()) {}

  bool logprobs() const { return request_.top_logprobs >= 0; }
  const CompletionRequest& request() const { return request_; }
  const Generation& generation() const { return **generation_; }

  // The text in front of the answer.
  std::string echo() const {
    if (!request_.echo) return "";
    auto* text = std::get_if<std::string>(&request_.prompt);
    return text ? *text : model_.tokenizer->decode(std::get<1>(request_.prompt));
  }

  // Runs to the end; `emit` gets each piece and says whether to go on.
  RunEnd run(http::Client& client, const RunControl& control,
             const std::function<bool(const VisiblePiece&)>& emit,
             const std::function<void()>& on_idle) {
    RunEnd end = run_generation(
        **generation_, client, control,
        [&](const GeneratedToken& token) { return emit(push(token)) && !text_.stopped(); },
        on_idle);
    emit(text_.push_held(detokenizer_.flush()));
    emit(text_.flush());
    return end;
  }

  // One element of "choices".
  Json choice(const std::string& text, const std::vector<GeneratedToken>& tokens,
              const char* reason) {
    Json choice = {{"index", 0}, {"text", text}};
    choice["logprobs"] =
        logprobs() ? completion_logprobs(*model_.tokenizer, tokens, &offset_) : Json();
    choice["finish_reason"] = reason ? Json(reason) : Json();
    return choice;
  }

  Json body(Json choices) const {
    return {{"id", id_},
            {"object", "text_completion"},
            {"created", created_},
            {"model", model_.name},
            {"choices", std::move(choices)}};
  }

  Json usage() const {
    auto progress = (*generation_)->progress();
    return usage_json({progress.prompt_tokens, progress.cached_tokens, tokens_, 0});
  }

 private:
  VisiblePiece push(const GeneratedToken& token) {
    ++tokens_;
    bool hidden = request_.skip_special_tokens && model_.tokenizer->is_special(token.token);
    return hidden ? VisiblePiece{} : text_.push(token, detokenizer_.push(token.token));
  }

  const ServedModel& model_;
  std::shared_ptr<RunningGeneration> generation_;
  const CompletionRequest request_;
  Detokenizer detokenizer_;
  VisibleText text_;
  const std::string id_ = random_id("cmpl-");
  const std::time_t created_ = std::time(nullptr);
  int64_t tokens_ = 0;
  int64_t offset_ = 0;  // of the next token's text, in characters
};

http::Response whole(const Call& call, CompletionAnswer& answer) {
  VisiblePiece all{.text = answer.echo(), .tokens = {}};
  RunEnd end = answer.run(
      call.client, call.control,
      [&](const VisiblePiece& piece) {
        all.text += piece.text;
        all.tokens.insert(all.tokens.end(), piece.tokens.begin(), piece.tokens.end());
        return true;
      },
      [] {});
  const Generation& generation = answer.generation();
  if (failed(end, generation)) return failed_response(generation);
  Json body = answer.body(
      Json::array({answer.choice(all.text, all.tokens, finish_reason(end, generation))}));
  body["usage"] = answer.usage();
  return json_response(body);
}

void stream(const RunControl& control, CompletionAnswer& answer, http::StreamWriter& out) {
  EventStream events(out, control.ping);
  auto send = [&](const VisiblePiece& piece) {
    if (!piece.text.empty()) {
      events.send(answer.body(Json::array({answer.choice(piece.text, piece.tokens, nullptr)})));
    }
    return events.ok();
  };
  send({.text = answer.echo(), .tokens = {}});
  RunEnd end = answer.run(out, control, send, [&] { events.ping_if_due(); });
  const Generation& generation = answer.generation();
  if (failed(end, generation)) {
    events.send(failed_event(generation));
  } else {
    events.send(answer.body(Json::array({answer.choice("", {}, finish_reason(end, generation))})));
    if (answer.request().options.include_usage) {
      Json last = answer.body(Json::array());
      last["usage"] = answer.usage();
      events.send(last);
    }
  }
  events.done();
}

std::vector<int32_t> prompt_tokens(const Tokenizer& tokenizer, const Prompt& prompt) {
  if (auto* ids = std::get_if<std::vector<int32_t>>(&prompt)) return *ids;
  return tokenizer.encode_with_bos(std::get<std::string>(prompt), /*parse_special=*/true);
}

}  // namespace

http::Response completions(const Call& call) {
  const ServedModel& model = call.model;
  auto request = parse_completion_request(call.request.body, model.defaults);
  if (!request.ok()) return error_response(request.status());
  auto constraint = text_constraint(*model.grammars, request->options.format);
  if (!constraint.ok()) return error_response(constraint.status());
  request->options.constraint = std::move(*constraint);
  auto admitted = admit(model, prompt_tokens(*model.tokenizer, request->prompt), request->options,
                        request->top_logprobs);
  if (auto* refusal = std::get_if<http::Response>(&admitted)) return std::move(*refusal);
  auto answer = std::make_shared<CompletionAnswer>(
      model, std::get<std::shared_ptr<RunningGeneration>>(admitted), std::move(*request));
  if (!answer->request().options.stream) return whole(call, *answer);

  http::Response response;
  response.content_type = kEventStream;
  response.stream = [&control = call.control, answer](http::StreamWriter& out) {
    stream(control, *answer, out);
  };
  return response;
}

}  // namespace nmc::api
