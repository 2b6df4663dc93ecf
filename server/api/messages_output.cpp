#include "server/api/messages_output.h"

#include "server/api/admission.h"

namespace nmc::api {
namespace {

// What was read from the cache is not counted as input a second time.
Json usage_of_message(const Usage& u) {
  return {{"input_tokens", u.prompt - u.cached},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", u.cached},
          {"output_tokens", u.completion}};
}

const char* stop_reason(const ChatEnd& end) {
  const std::string_view reason = end.reason;
  if (!end.stop_string.empty()) return "stop_sequence";
  if (reason == "tool_calls") return "tool_use";
  return reason == "length" ? "max_tokens" : "end_turn";
}

const char* error_type(int status) {
  switch (status) {
    case 400:
    case 501:
      return "invalid_request_error";
    case 401:
      return "authentication_error";
    case 404:
    case 405:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return "api_error";
  }
}

}  // namespace

MessagesOutput::MessagesOutput(const ServedModel& model, Emit emit)
    : emit_(std::move(emit)),
      message_({{"id", random_id("msg_")},
                {"type", "message"},
                {"role", "assistant"},
                {"model", model.name},
                {"content", Json::array()},
                {"stop_reason", nullptr},
                {"stop_sequence", nullptr},
                {"usage", usage_of_message({})}}) {}

void MessagesOutput::begin(int64_t prompt_tokens) {
  message_["usage"] = usage_of_message({.prompt = prompt_tokens});
  emit_({{"type", "message_start"}, {"message", message_}});
}

void MessagesOutput::open_block(Json block) {
  close_block();
  open_ = true;
  emit_({{"type", "content_block_start"},
         {"index", message_["content"].size()},
         {"content_block", block}});
  message_["content"].push_back(std::move(block));
}

void MessagesOutput::send_delta(Json delta) {
  emit_({{"type", "content_block_delta"},
         {"index", message_["content"].size() - 1},
         {"delta", std::move(delta)}});
}

void MessagesOutput::delta(size_t, ChatDelta delta) {
  switch (delta.kind) {
    case ChatDelta::Kind::kReasoning:
      if (!is_open("thinking")) {
        open_block({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
      }
      send_delta({{"type", "thinking_delta"}, {"thinking", delta.text}});
      break;
    case ChatDelta::Kind::kContent:
      if (!is_open("text")) open_block({{"type", "text"}, {"text", ""}});
      send_delta({{"type", "text_delta"}, {"text", delta.text}});
      break;
    case ChatDelta::Kind::kCallBegin:
      open_block({{"type", "tool_use"},
                  {"id", delta.id},
                  {"name", delta.name},
                  {"input", Json::object()}});
      return;
    case ChatDelta::Kind::kCallArguments:
      send_delta({{"type", "input_json_delta"}, {"partial_json", delta.text}});
      break;
  }
  text_ += delta.text;
}

void MessagesOutput::close_block() {
  if (!open_) return;
  if (is_open("thinking")) {
    // Clients send the signature back; this server asks for none.
    send_delta({{"type", "signature_delta"}, {"signature", ""}});
    block()["thinking"] = text_;
  } else if (is_open("text")) {
    block()["text"] = text_;
  } else if (auto input = parse_json(text_, "input"); input.ok()) {
    block()["input"] = std::move(*input);  // a call that was cut keeps an empty one
  }
  emit_({{"type", "content_block_stop"}, {"index", message_["content"].size() - 1}});
  text_.clear();
  open_ = false;
}

void MessagesOutput::end(size_t, const ChatEnd& end) {
  close_block();
  message_["stop_reason"] = stop_reason(end);
  if (!end.stop_string.empty()) message_["stop_sequence"] = end.stop_string;
}

void MessagesOutput::finish(const Usage& usage) {
  message_["usage"] = usage_of_message(usage);
  emit_({{"type", "message_delta"},
         {"delta",
          {{"stop_reason", message_["stop_reason"]}, {"stop_sequence", message_["stop_sequence"]}}},
         {"usage", message_["usage"]}});
  emit_({{"type", "message_stop"}});
}

Json messages_error(const Json& openai, int status) {
  const Json& error = openai["error"];
  std::string message = error["message"];
  // The words by which Anthropic's clients know that they are to shorten the conversation.
  if (error["code"] == "context_length_exceeded") {
    message = "prompt is too long: " + error["n_prompt_tokens"].dump() + " tokens > " +
              error["n_ctx"].dump() + " maximum. " + message;
  }
  return {{"type", "error"}, {"error", {{"type", error_type(status)}, {"message", message}}}};
}

}  // namespace nmc::api
