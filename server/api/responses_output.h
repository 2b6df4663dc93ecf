// The answer of POST /v1/responses: one object that grows, and the events that tell of it.
#pragma once

#include <functional>
#include <string>

#include "runtime/base/json.h"
#include "server/api/chat_answer.h"
#include "server/api/served_model.h"

namespace nmc::api {

// Whole answers and streams are made by this one writer: without a stream the events go nowhere.
// Not thread-safe.
class ResponsesOutput : public ChatSink {
 public:
  using Emit = std::function<void(const Json& event)>;

  // `request`: the body as it was sent, of which the answer repeats a part.
  ResponsesOutput(const ServedModel& model, const Json& request, bool logprobs, Emit emit);

  void begin();
  // `text` of an error event when the device failed, else empty.
  void finish(const Usage& usage, const Status& status);
  const Json& response() const { return response_; }

  // ---- ChatSink
  void delta(size_t choice, ChatDelta delta) override;
  void end(size_t choice, const ChatEnd& end) override;

 private:
  enum class Open { kNothing, kReasoning, kMessage, kCall };

  void send(const char* type, Json fields);
  void send_in_item(const char* type, Json fields);
  void open_item(Open kind, Json item);
  void open_text(Open kind);
  void close_item();
  void close_text(Json* item);
  Json part() const;
  Json& item() { return response_["output"].back(); }
  size_t index() { return response_["output"].size() - 1; }

  const ServedModel& model_;
  const bool logprobs_;
  const Emit emit_;
  Json response_;
  Open open_ = Open::kNothing;
  std::string text_;  // of the open item
  Json token_logprobs_ = Json::array();
  bool cut_ = false;
  int64_t sequence_number_ = 0;
};

}  // namespace nmc::api
