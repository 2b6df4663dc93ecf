// Dialects: how a family of models marks reasoning, answer and tool calls in its output.
//
// A parser eats decoded text in pieces of any size, with special tokens written out as their
// strings, and tells what each piece means. Cutting the text in other places changes only where
// the deltas are cut, never what they add up to. Time is linear in the text; what is held back is
// at most one partial marker, one partial character and trailing blanks, besides the head of a
// tool call up to its name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/dialect_event.h"
#include "runtime/text/dialect/parameter_kind.h"

namespace nmc {

enum class Dialect {
  kPlain,   // everything is answer
  kCmd3,    // Command R7B, Command A: <|START_RESPONSE|>, <|START_ACTION|>
  kCmd4,    // North Mini Code: <|START_TEXT|>, <|START_ACTION|>
  kHermes,  // Qwen and kin: <think>, <tool_call> with JSON in it
  kCoder,   // Qwen3-Coder: the same, with <function=...> and <parameter=...> in place of JSON
};

// "plain", "cmd3", "cmd4", "hermes", "coder".
const char* to_string(Dialect dialect);

enum class StartMode {
  kContent,    // the prompt ends outside of any block
  kReasoning,  // the prompt ends inside a thinking block
};

struct DialectOptions {
  // False: calls are neither reported nor shown (the request has no tools, or tool_choice none).
  bool tools = true;
  // True: the answer was asked to be one JSON value. Markers inside its strings are then data, and
  // what follows the value is dropped. For the Cohere dialects; the others ignore it.
  bool json_answer = false;
  // True: the prompt asked for citations; their tags are taken out of text and reasoning. For the
  // Cohere dialects; without it such a tag is text, as in an answer about XML.
  bool citations = false;
  // Of a tool's parameter, by their names; of kCoder only. Empty: kUnknown.
  std::function<ParameterKind(const std::string& tool, const std::string& parameter)>
      parameter_kind = {};
  // Makes the id of a call; called on the feeding thread. Empty: "call_" and 24 random letters.
  std::function<std::string()> make_id = {};
};

// One response. Not thread-safe. Events are appended to `out`, which the caller owns.
class DialectParser {
 public:
  virtual ~DialectParser() = default;

  virtual void feed(std::string_view text, std::vector<DialectEvent>* out) = 0;
  // The output is over; `cut` when a limit ended it and not the model. Releases held text and
  // closes an open call as incomplete. Later calls of feed and finish do nothing.
  virtual void finish(bool cut, std::vector<DialectEvent>* out) = 0;
};

// Whether the parser of this dialect acts on this marker at some place.
bool is_marker(Dialect dialect, std::string_view text);

// The dialect of a model, from the markers in its chat template and its vocabulary.
Dialect detect_dialect(std::string_view template_source,
                       const std::function<bool(std::string_view)>& has_token);

// Where a response to `prompt` (as rendered) starts: inside a thinking block or not.
StartMode start_mode(Dialect dialect, std::string_view prompt);

std::unique_ptr<DialectParser> make_parser(Dialect dialect, StartMode start,
                                           DialectOptions options = {});

}  // namespace nmc
