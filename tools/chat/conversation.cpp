#include "tools/chat/conversation.h"

namespace nmc {

void Conversation::ask(const std::string& text) {
  messages_.push_back({{"role", "user"}, {"content", text}});
}

void Conversation::answered(const std::string& content, const std::string& reasoning) {
  if (content.empty() && reasoning.empty()) {
    messages_.erase(messages_.size() - 1);
    return;
  }
  Json message = {{"role", "assistant"}, {"content", content}};
  if (!reasoning.empty()) message["reasoning_content"] = reasoning;
  messages_.push_back(std::move(message));
}

void Conversation::clear() {
  messages_ = Json::array();
  if (!system_.empty()) messages_.push_back({{"role", "system"}, {"content", system_}});
}

}  // namespace nmc
