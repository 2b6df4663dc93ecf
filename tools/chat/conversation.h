// The messages so far.
#pragma once

#include <string>

#include "runtime/base/json.h"

namespace nmc {

class Conversation {
 public:
  // `system`: how the model is to answer; may be empty.
  explicit Conversation(std::string system) : system_(std::move(system)) { clear(); }

  void ask(const std::string& text);
  // What was answered. Nothing at all takes the question back.
  void answered(const std::string& content, const std::string& reasoning);
  void clear();

  const Json& messages() const { return messages_; }

 private:
  std::string system_;
  Json messages_;
};

}  // namespace nmc
