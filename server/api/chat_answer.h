// The answers to one chat-like request, whatever API it came by.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/api/call.h"
#include "server/api/chat_completion_request.h"
#include "server/api/chat_output.h"
#include "server/api/usage.h"

namespace nmc::api {

// How one of the answers ended.
struct ChatEnd {
  const char* reason = "stop";  // or "length", "tool_calls"
  std::string stop_string{};    // that ended it; empty: none
};

// Receives the answers while they are written. `choice` counts from 0.
class ChatSink {
 public:
  virtual ~ChatSink() = default;
  virtual void delta(size_t choice, ChatDelta delta) = 0;
  virtual void end(size_t choice, const ChatEnd& end) = 0;
  // Nothing has happened for a moment.
  virtual void idle() {}
  // False: nobody reads on.
  virtual bool ok() const { return true; }
};

// Not thread-safe. Cancels what still runs when it is destroyed.
class ChatAnswer {
 public:
  // Renders the prompt, compiles what the answer must fit and queues the request, or says why not:
  // everything that can be refused is refused here.
  static std::variant<std::shared_ptr<ChatAnswer>, http::Response> start(
      const Call& call, ChatCompletionRequest request);

  // Runs all answers to their ends. An error when the device failed.
  Status run(http::Client& client, const RunControl& control, ChatSink& sink);

  const ChatCompletionRequest& request() const { return request_; }
  size_t choices() const { return outputs_.size(); }
  int64_t prompt_tokens() const {
    return generations_.front()->operator->()->progress().prompt_tokens;
  }
  // So far; prompt tokens count once.
  Usage usage() const;

 private:
  ChatAnswer() = default;

  ChatEnd end_of(size_t choice, RunEnd end) const;

  ChatCompletionRequest request_;
  std::vector<std::shared_ptr<RunningGeneration>> generations_;
  std::vector<ChatOutput> outputs_;
};

// The prompt of a request in tokens, for those who only count them.
Result<std::vector<int32_t>> chat_prompt_tokens(const ServedModel& model,
                                                const ChatCompletionRequest& request);

}  // namespace nmc::api
