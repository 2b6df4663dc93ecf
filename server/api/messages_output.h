// The answer of POST /v1/messages: one message that grows, and the events that tell of it.
#pragma once

#include <functional>
#include <string>

#include "runtime/base/json.h"
#include "server/api/chat_answer.h"
#include "server/api/served_model.h"

namespace nmc::api {

// Whole answers and streams are made by this one writer: without a stream the events go nowhere.
// Not thread-safe.
class MessagesOutput : public ChatSink {
 public:
  using Emit = std::function<void(const Json& event)>;

  MessagesOutput(const ServedModel& model, Emit emit);

  void begin(int64_t prompt_tokens);
  void finish(const Usage& usage);
  const Json& message() const { return message_; }

  // ---- ChatSink
  void delta(size_t choice, ChatDelta delta) override;
  void end(size_t choice, const ChatEnd& end) override;

 private:
  void open_block(Json block);
  void open_text(const char* type);
  void send_delta(Json delta);
  void close_block();
  bool is_open(const char* type) { return open_ && block()["type"] == type; }
  Json& block() { return message_["content"].back(); }

  const Emit emit_;
  Json message_;
  bool open_ = false;  // the last block
  std::string text_;   // of it
};

// {"type": "error", "error": {"type", "message"}} of an error in OpenAI's shape.
Json messages_error(const Json& openai, int status);

}  // namespace nmc::api
