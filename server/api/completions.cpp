#include "server/api/admission.h"
#include "server/api/answer_grammar.h"
#include "server/api/completion_request.h"
#include "server/api/completion_text.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/event_stream.h"
#include "server/api/logprobs.h"
#include "server/api/usage.h"

namespace nmc::api {
namespace {

std::vector<int32_t> prompt_tokens(const Tokenizer& tokenizer, const Prompt& prompt) {
  if (auto* ids = std::get_if<std::vector<int32_t>>(&prompt)) return *ids;
  return tokenizer.encode_with_bos(std::get<std::string>(prompt), /*parse_special=*/true);
}

// The answers to one request, made either way from the same pieces.
class CompletionAnswer {
 public:
  using Emit = std::function<void(size_t choice, const VisiblePiece& piece)>;
  using End = std::function<void(size_t choice, const char* reason)>;

  CompletionAnswer(const ServedModel& model, Generations generations, CompletionRequest request)
      : model_(model), generations_(std::move(generations)), request_(std::move(request)) {
    for (size_t i = 0; i < generations_.size(); ++i) texts_.emplace_back(model_, request_);
    echo_due_.assign(generations_.size(), request_.echo);
  }

  const CompletionRequest& request() const { return request_; }
  size_t choices() const { return texts_.size(); }

  // Runs all to their ends. An error when the device failed.
  Status run(http::Client& client, const RunControl& control, const Emit& emit, const End& on_end,
             const std::function<void()>& on_idle, const std::function<bool()>& ok) {
    Status status;
    run_generations(generations_, client, control,
                    {.on_token =
                         [&](size_t i, const GeneratedToken& token) {
                           if (must_echo(i)) emit(i, echo(i));
                           emit(i, texts_[i].push(token));
                           return !texts_[i].stopped() && ok() && status.ok();
                         },
                     .on_end =
                         [&](size_t i, RunEnd end) {
                           const Generation& generation = **generations_[i];
                           if (failed(end, generation)) status = generation.status();
                           if (!status.ok()) return;
                           if (must_echo(i)) emit(i, echo(i));
                           emit(i, texts_[i].flush());
                           on_end(i, finish_reason(end, generation));
                         },
                     .on_idle = on_idle});
    return status;
  }

  // One element of "choices".
  Json choice(size_t i, const std::string& text, const std::vector<GeneratedToken>& tokens,
              const char* reason) {
    return texts_[i].choice(i, text, tokens, reason);
  }

  Json body(Json choices) const {
    return {{"id", id_},
            {"object", "text_completion"},
            {"created", created_},
            {"model", model_.name},
            {"choices", std::move(choices)}};
  }

  Json usage() const {
    return usage_json(usage_of(generations_, static_cast<size_t>(request_.options.n)));
  }

 private:
  // Whether the answer's prompt is to be said now: only once all is known about it.
  bool must_echo(size_t i) {
    const bool due = echo_due_[i];
    echo_due_[i] = false;
    return due;
  }

  // The prompt, with what was thought of its tokens where that is asked for.
  VisiblePiece echo(size_t i) {
    const Prompt& prompt = request_.prompts[i / static_cast<size_t>(request_.options.n)];
    const Tokenizer& tokenizer = *model_.text.tokenizer;
    auto* text = std::get_if<std::string>(&prompt);
    VisiblePiece piece{.text = text ? *text : tokenizer.decode(std::get<1>(prompt)), .tokens = {}};
    if (!request_.options.prompt_logprobs) return piece;
    const int32_t first = prompt_tokens(tokenizer, prompt).front();
    // A token in front of what the client wrote begins before the text does.
    const std::string_view name = tokenizer.token_bytes(first);
    if (!piece.text.starts_with(name)) texts_[i].begin_before_text(count_characters(name));
    piece.tokens.push_back({.token = first, .logprob = kNoLogprob, .top = {}});
    for (GeneratedToken& token : (*generations_[i])->prompt_scores()) {
      piece.tokens.push_back(std::move(token));
    }
    return piece;
  }

  const ServedModel& model_;
  const Generations generations_;
  const CompletionRequest request_;
  std::vector<bool> echo_due_;
  std::vector<CompletionText> texts_;
  const std::string id_ = random_id("cmpl-");
  const std::time_t created_ = std::time(nullptr);
};

http::Response whole(const Call& call, CompletionAnswer& answer) {
  std::vector<VisiblePiece> all(answer.choices());
  std::vector<const char*> reasons(answer.choices());
  Status status = answer.run(
      call.client, call.control,
      [&](size_t i, const VisiblePiece& piece) {
        all[i].text += piece.text;
        all[i].tokens.insert(all[i].tokens.end(), piece.tokens.begin(), piece.tokens.end());
      },
      [&](size_t i, const char* reason) { reasons[i] = reason; }, [] {}, [] { return true; });
  if (!status.ok()) return error_response(status);
  Json choices = Json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    choices.push_back(answer.choice(i, all[i].text, all[i].tokens, reasons[i]));
  }
  Json body = answer.body(std::move(choices));
  body["usage"] = answer.usage();
  return json_response(body);
}

void stream(const RunControl& control, CompletionAnswer& answer, http::StreamWriter& out) {
  EventStream events(out, control.ping);
  auto send = [&](size_t i, const VisiblePiece& piece, const char* reason) {
    if (piece.text.empty() && !reason) return;
    events.send(answer.body(Json::array({answer.choice(i, piece.text, piece.tokens, reason)})));
  };
  Status status = answer.run(
      out, control, [&](size_t i, const VisiblePiece& piece) { send(i, piece, nullptr); },
      [&](size_t i, const char* reason) { send(i, {}, reason); }, [&] { events.ping_if_due(); },
      [&] { return events.ok(); });
  if (!status.ok()) {
    events.send(error_json(api_error(status)));
  } else if (answer.request().options.include_usage) {
    Json last = answer.body(Json::array());
    last["usage"] = answer.usage();
    events.send(last);
  }
  events.done();
}

}  // namespace

http::Response completions(const Call& call) {
  const ServedModel& model = call.model;
  auto body = parse_body(call.request.body);
  if (!body.ok()) return error_response(body.status());
  auto request = parse_completion_request(*body, model.defaults);
  if (!request.ok()) return error_response(request.status());
  request->options.session = session_of(call.request, *body);
  auto constraint = text_constraint(*model.grammars, request->options.format);
  if (!constraint.ok()) return error_response(constraint.status());
  request->options.constraint = std::move(*constraint);
  std::vector<std::vector<int32_t>> prompts;
  for (const Prompt& prompt : request->prompts) {
    prompts.push_back(prompt_tokens(*model.text.tokenizer, prompt));
  }
  auto admitted = admit(model, std::move(prompts), request->options, request->top_logprobs);
  if (auto* refusal = std::get_if<http::Response>(&admitted)) return std::move(*refusal);
  auto answer = std::make_shared<CompletionAnswer>(model, std::get<Generations>(admitted),
                                                   std::move(*request));
  if (!answer->request().options.stream) return whole(call, *answer);
  return event_stream_response([&control = call.control, answer](http::StreamWriter& out) {
    stream(control, *answer, out);
  });
}

}  // namespace nmc::api
