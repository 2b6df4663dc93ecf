// The JSON of a chat completion: chunks of a stream, or one message.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "server/api/chat_output.h"
#include "server/api/served_model.h"
#include "server/api/usage.h"

namespace nmc::api {

// Names one answer; all chunks of a stream carry the same.
struct ChatIdentity {
  std::string id;
  std::time_t created;
};

class ChatChunks {
 public:
  ChatChunks(const ServedModel& model, ChatIdentity identity, bool logprobs)
      : model_(model), identity_(std::move(identity)), logprobs_(logprobs) {}

  Json role(size_t choice) const;
  Json delta(size_t choice, const ChatDelta& delta) const;
  Json finish(size_t choice, const char* reason) const;
  Json usage(const Usage& usage) const;

 private:
  Json chunk(size_t choice, Json delta, const char* finish_reason) const;

  const ServedModel& model_;
  const ChatIdentity identity_;
  const bool logprobs_;
};

// One of the answers to a request without stream.
Json chat_choice(const ServedModel& model, size_t choice, const std::vector<ChatDelta>& deltas,
                 bool logprobs, const char* reason);
// All of them.
Json chat_completion(const ServedModel& model, const ChatIdentity& identity, Json choices,
                     const Usage& usage);

}  // namespace nmc::api
