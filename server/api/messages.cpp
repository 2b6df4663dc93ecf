#include "server/api/chat_answer.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/event_stream.h"
#include "server/api/messages_output.h"
#include "server/api/messages_request.h"

namespace nmc::api {
namespace {

Result<ChatCompletionRequest> parse(const Call& call, bool counting) {
  NMC_ASSIGN(Json body, parse_body(call.request.body));
  NMC_ASSIGN(Json chat, chat_body_of_message(body, counting));
  NMC_ASSIGN(auto request, parse_chat_completion_request(chat, call.model.defaults));
  request.options.session = session_of(call.request, body);
  return request;
}

class MessagesStream : public MessagesOutput {
 public:
  MessagesStream(const ServedModel& model, EventStream& events)
      : MessagesOutput(model, [&events](const Json& event) { events.send_named(event); }),
        events_(events) {}
  void idle() override { events_.ping_if_due(); }
  bool ok() const override { return events_.ok(); }

 private:
  EventStream& events_;
};

Result<Json> count(const Call& call) {
  NMC_ASSIGN(auto request, parse(call, /*counting=*/true));
  NMC_ASSIGN(auto tokens, chat_prompt_tokens(call.model, request));
  return Json{{"input_tokens", tokens.size()}};
}

}  // namespace

http::Response messages(const Call& call) {
  auto request = parse(call, /*counting=*/false);
  if (!request.ok()) return error_response(request.status());
  auto started = ChatAnswer::start(call, std::move(*request));
  if (auto* refusal = std::get_if<http::Response>(&started)) return std::move(*refusal);
  auto answer = std::get<std::shared_ptr<ChatAnswer>>(std::move(started));

  if (!answer->request().options.stream) {
    MessagesOutput output(call.model, [](const Json&) {});
    Status status = answer->run(call.client, call.control, output);
    if (!status.ok()) return error_response(status);
    output.finish(answer->usage());
    return json_response(output.message());
  }
  return event_stream_response(
      [&model = call.model, &control = call.control, answer](http::StreamWriter& out) {
        EventStream events(out, control.ping);
        MessagesStream output(model, events);
        output.begin(answer->prompt_tokens());
        Status status = answer->run(out, control, output);
        if (status.ok()) {
          output.finish(answer->usage());
        } else {
          events.send_named(messages_error(error_json(api_error(status)), 500));
        }
      });
}

http::Response count_tokens(const Call& call) {
  auto result = count(call);
  return result.ok() ? json_response(*result) : error_response(result.status());
}

}  // namespace nmc::api
