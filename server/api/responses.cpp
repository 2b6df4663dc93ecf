#include "server/api/chat_answer.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/event_stream.h"
#include "server/api/responses_output.h"
#include "server/api/responses_request.h"

namespace nmc::api {
namespace {

Result<ChatCompletionRequest> parse(const Call& call, const Json& body) {
  NMC_ASSIGN(Json chat, chat_body_of_response(body));
  NMC_ASSIGN(auto request, parse_chat_completion_request(chat, call.model.defaults));
  request.options.session = session_of(call.request, body);
  return request;
}

// The stream's own pings and end; everything else is the same without one.
class ResponsesStream : public ResponsesOutput {
 public:
  ResponsesStream(const ServedModel& model, const Json& request, bool logprobs, EventStream& events)
      : ResponsesOutput(model, request, logprobs,
                        [&events](const Json& event) { events.send_named(event); }),
        events_(events) {}
  void idle() override { events_.ping_if_due(); }
  bool ok() const override { return events_.ok(); }

 private:
  EventStream& events_;
};

}  // namespace

http::Response responses(const Call& call) {
  auto body = parse_body(call.request.body);
  if (!body.ok()) return error_response(body.status());
  auto request = parse(call, *body);
  if (!request.ok()) return error_response(request.status());
  auto started = ChatAnswer::start(call, std::move(*request));
  if (auto* refusal = std::get_if<http::Response>(&started)) return std::move(*refusal);
  auto answer = std::get<std::shared_ptr<ChatAnswer>>(std::move(started));
  const bool logprobs = answer->request().top_logprobs >= 0;

  if (!answer->request().options.stream) {
    ResponsesOutput output(call.model, *body, logprobs, [](const Json&) {});
    Status status = answer->run(call.client, call.control, output);
    if (!status.ok()) return error_response(status);
    output.finish(answer->usage(), status);
    return json_response(output.response());
  }
  return event_stream_response([&model = call.model, &control = call.control, answer, logprobs,
                                body = std::move(*body)](http::StreamWriter& out) {
    EventStream events(out, control.ping);
    ResponsesStream output(model, body, logprobs, events);
    output.begin();
    Status status = answer->run(out, control, output);
    output.finish(answer->usage(), status);
  });
}

}  // namespace nmc::api
