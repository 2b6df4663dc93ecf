// Answers by an OpenAI-compatible server.
#pragma once

#include <memory>
#include <string>

#include "tools/chat/answerer.h"
#include "tools/http/event_client.h"

namespace nmc {

class RemoteAnswerer : public Answerer {
 public:
  // Asks the server for its model, so a wrong address shows at once.
  static Result<std::unique_ptr<Answerer>> open(const std::string& url, const std::string& api_key);

  Result<AnswerStats> answer(const Json& messages, const AnswerSettings& settings,
                             const std::function<void(const AnswerPiece&)>& on_piece,
                             const std::function<bool()>& stopped) override;

 private:
  RemoteAnswerer(std::unique_ptr<EventClient> client, std::string model)
      : client_(std::move(client)), model_(std::move(model)) {}

  std::unique_ptr<EventClient> client_;
  std::string model_;
};

}  // namespace nmc
