#include "server/api/admission.h"
#include "server/api/chat_answer.h"
#include "server/api/chat_chunks.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/event_stream.h"

namespace nmc::api {
namespace {

// Keeps everything for one message.
class ChatCollector : public ChatSink {
 public:
  explicit ChatCollector(size_t choices) : deltas(choices), reasons(choices) {}
  void delta(size_t choice, ChatDelta delta) override {
    deltas[choice].push_back(std::move(delta));
  }
  void end(size_t choice, const ChatEnd& end) override { reasons[choice] = end.reason; }

  std::vector<std::vector<ChatDelta>> deltas;
  std::vector<const char*> reasons;
};

// Sends everything at once.
class ChatStream : public ChatSink {
 public:
  ChatStream(const ChatChunks& chunks, EventStream& events) : chunks_(chunks), events_(events) {}
  void delta(size_t choice, ChatDelta delta) override {
    events_.send(chunks_.delta(choice, delta));
  }
  void end(size_t choice, const ChatEnd& end) override {
    events_.send(chunks_.finish(choice, end.reason));
  }
  void idle() override { events_.ping_if_due(); }
  bool ok() const override { return events_.ok(); }

 private:
  const ChatChunks& chunks_;
  EventStream& events_;
};

http::Response whole(const Call& call, ChatAnswer& answer, const ChatIdentity& identity) {
  ChatCollector all(answer.choices());
  Status status = answer.run(call.client, call.control, all);
  if (!status.ok()) return error_response(status);
  bool logprobs = answer.request().top_logprobs >= 0;
  Json choices = Json::array();
  for (size_t i = 0; i < answer.choices(); ++i) {
    choices.push_back(chat_choice(call.model, i, all.deltas[i], logprobs, all.reasons[i]));
  }
  return json_response(chat_completion(call.model, identity, std::move(choices), answer.usage()));
}

void stream(const ServedModel& model, const RunControl& control, ChatAnswer& answer,
            const ChatIdentity& identity, http::StreamWriter& out) {
  ChatChunks chunks(model, identity, answer.request().top_logprobs >= 0);
  EventStream events(out, control.ping);
  for (size_t i = 0; i < answer.choices(); ++i) events.send(chunks.role(i));
  ChatStream sink(chunks, events);
  Status status = answer.run(out, control, sink);
  if (!status.ok()) {
    events.send(error_json(api_error(status)));
  } else if (answer.request().options.include_usage) {
    events.send(chunks.usage(answer.usage()));
  }
  events.done();
}

}  // namespace

http::Response chat_completions(const Call& call) {
  auto body = parse_body(call.request.body);
  if (!body.ok()) return error_response(body.status());
  auto request = parse_chat_completion_request(*body, call.model.defaults);
  if (!request.ok()) return error_response(request.status());
  request->options.session = session_of(call.request, *body);
  auto started = ChatAnswer::start(call, std::move(*request));
  if (auto* refusal = std::get_if<http::Response>(&started)) return std::move(*refusal);

  auto answer = std::get<std::shared_ptr<ChatAnswer>>(std::move(started));
  ChatIdentity identity = {random_id("chatcmpl-"), std::time(nullptr)};
  if (!answer->request().options.stream) return whole(call, *answer, identity);
  return event_stream_response(
      [&model = call.model, &control = call.control, answer, identity](http::StreamWriter& out) {
        stream(model, control, *answer, identity, out);
      });
}

}  // namespace nmc::api
