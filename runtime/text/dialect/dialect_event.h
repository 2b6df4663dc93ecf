// What a model's output means, piece by piece.
#pragma once

#include <string>

namespace nmc {

struct DialectEvent {
  enum class Kind {
    kReasoning,      // text: the next piece of reasoning
    kContent,        // text: the next piece of the answer
    kCallBegin,      // index, id and name of a tool call
    kCallArguments,  // text: the next piece of that call's arguments, JSON
    kCallEnd,        // complete tells whether the arguments are one whole JSON object
  };

  Kind kind = Kind::kContent;
  std::string text;
  int index = -1;        // of the call in this response: 0, 1, ...
  std::string id;        // kCallBegin: unique, made by the parser
  std::string model_id;  // kCallBegin: the id that the model wrote, or empty
  std::string name;      // kCallBegin: the function
  bool complete = true;  // kCallEnd: false when the output ended inside the call or broke its form
};

}  // namespace nmc
