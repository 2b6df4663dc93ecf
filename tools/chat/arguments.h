// The command line of chat.
#pragma once

#include <optional>
#include <string>

#include "tools/chat/answerer.h"
#include "tools/chat/local_answerer.h"

namespace nmc {

struct ChatArguments {
  LocalOptions local;
  std::string url, api_key;  // a server instead of a model
  std::optional<std::string> prompt = {}, prompt_file = {};
  std::string system;
  AnswerSettings settings;
  bool quiet = false;
};

// Exits the process on --help, --version and usage errors.
ChatArguments parse_chat_arguments(int argc, char** argv);

}  // namespace nmc
