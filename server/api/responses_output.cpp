#include "server/api/responses_output.h"

#include <ctime>

#include "runtime/text/chat/request_fields.h"
#include "server/api/admission.h"
#include "server/api/error.h"
#include "server/api/logprobs.h"

namespace nmc::api {
namespace {

// What a response says about its request; fields that this server has no use for are repeated, too.
Json new_response(const ServedModel& model, const Json& request) {
  Json response = {{"id", random_id("resp_")},
                   {"object", "response"},
                   {"created_at", std::time(nullptr)},
                   {"status", "in_progress"},
                   {"background", false},
                   {"error", nullptr},
                   {"incomplete_details", nullptr},
                   {"instructions", nullptr},
                   {"max_output_tokens", nullptr},
                   {"metadata", Json::object()},
                   {"model", model.name},
                   {"output", Json::array()},
                   {"parallel_tool_calls", true},
                   {"previous_response_id", nullptr},
                   {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                   {"store", false},
                   {"temperature", model.defaults.temperature},
                   {"text", {{"format", {{"type", "text"}}}}},
                   {"tool_choice", "auto"},
                   {"tools", Json::array()},
                   {"top_p", model.defaults.top_p},
                   {"truncation", "disabled"},
                   {"usage", nullptr}};
  copy_fields(request,
              {"instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "reasoning",
               "temperature", "text", "tool_choice", "tools", "top_p"},
              &response);
  return response;
}

Json usage_of_response(const Usage& u) {
  return {{"input_tokens", u.prompt},
          {"input_tokens_details", {{"cached_tokens", u.cached}}},
          {"output_tokens", u.completion},
          {"output_tokens_details", {{"reasoning_tokens", u.reasoning}}},
          {"total_tokens", u.prompt + u.completion}};
}

}  // namespace

ResponsesOutput::ResponsesOutput(const ServedModel& model, const Json& request, bool logprobs,
                                 Emit emit)
    : model_(model),
      logprobs_(logprobs),
      emit_(std::move(emit)),
      response_(new_response(model, request)) {}

void ResponsesOutput::send(const char* type, Json fields) {
  Json event = {{"type", type}, {"sequence_number", sequence_number_++}};
  event.update(fields);
  emit_(event);
}

void ResponsesOutput::send_in_item(const char* type, Json fields) {
  Json place = {{"item_id", item()["id"]}, {"output_index", index()}};
  if (open_ != Open::kCall) place["content_index"] = 0;
  place.update(fields);
  send(type, std::move(place));
}

void ResponsesOutput::begin() {
  send("response.created", {{"response", response_}});
  send("response.in_progress", {{"response", response_}});
}

void ResponsesOutput::open_item(Open kind, Json item) {
  close_item();
  open_ = kind;
  response_["output"].push_back(item);
  send("response.output_item.added", {{"output_index", index()}, {"item", std::move(item)}});
}

// Opens an item of one text, if it is not open.
void ResponsesOutput::open_text(Open kind) {
  if (open_ == kind) return;
  if (kind == Open::kReasoning) {
    open_item(kind, {{"id", random_id("rs_")},
                     {"type", "reasoning"},
                     {"summary", Json::array()},
                     {"content", Json::array()},
                     {"status", "in_progress"}});
  } else {
    open_item(kind, {{"id", random_id("msg_")},
                     {"type", "message"},
                     {"status", "in_progress"},
                     {"role", "assistant"},
                     {"content", Json::array()}});
  }
  send_in_item("response.content_part.added", {{"part", part()}});
}

// The only part of an open message or thought, as far as it goes.
Json ResponsesOutput::part() const {
  if (open_ == Open::kReasoning) return {{"type", "reasoning_text"}, {"text", text_}};
  return {{"type", "output_text"},
          {"text", text_},
          {"annotations", Json::array()},
          {"logprobs", token_logprobs_}};
}

void ResponsesOutput::delta(size_t, ChatDelta delta) {
  switch (delta.kind) {
    case ChatDelta::Kind::kReasoning:
      open_text(Open::kReasoning);
      send_in_item("response.reasoning_text.delta", {{"delta", delta.text}});
      break;
    case ChatDelta::Kind::kContent: {
      open_text(Open::kMessage);
      Json logprobs = Json::array();
      if (logprobs_) logprobs = chat_logprobs(*model_.text.tokenizer, delta.tokens)["content"];
      for (const Json& entry : logprobs) token_logprobs_.push_back(entry);
      send_in_item("response.output_text.delta",
                   {{"delta", delta.text}, {"logprobs", std::move(logprobs)}});
      break;
    }
    case ChatDelta::Kind::kCallBegin:
      open_item(Open::kCall, {{"id", random_id("fc_")},
                              {"type", "function_call"},
                              {"status", "in_progress"},
                              {"call_id", delta.id},
                              {"name", delta.name},
                              {"arguments", ""}});
      return;
    case ChatDelta::Kind::kCallArguments:
      send_in_item("response.function_call_arguments.delta", {{"delta", delta.text}});
      break;
  }
  text_ += delta.text;
}

// The end of the text of an open message or thought.
void ResponsesOutput::close_text(Json* item) {
  (*item)["content"] = Json::array({part()});
  if (open_ == Open::kReasoning) {
    send_in_item("response.reasoning_text.done", {{"text", text_}});
  } else {
    send_in_item("response.output_text.done", {{"text", text_}, {"logprobs", token_logprobs_}});
  }
  send_in_item("response.content_part.done", {{"part", part()}});
  token_logprobs_ = Json::array();
}

void ResponsesOutput::close_item() {
  if (open_ == Open::kNothing) return;
  item()["status"] = cut_ ? "incomplete" : "completed";
  if (open_ == Open::kCall) {
    item()["arguments"] = text_;
    send_in_item("response.function_call_arguments.done",
                 {{"name", item()["name"]}, {"arguments", text_}});
  } else {
    close_text(&item());
  }
  send("response.output_item.done", {{"output_index", index()}, {"item", item()}});
  text_.clear();
  open_ = Open::kNothing;
}

void ResponsesOutput::end(size_t, const ChatEnd& end) {
  cut_ = std::string_view(end.reason) == "length";
  close_item();
}

void ResponsesOutput::finish(const Usage& usage, const Status& status) {
  response_["usage"] = usage_of_response(usage);
  if (!status.ok()) {
    response_["status"] = "failed";
    response_["error"] = {{"code", "server_error"}, {"message", status.message()}};
    send("response.failed", {{"response", response_}});
  } else if (cut_) {
    response_["status"] = "incomplete";
    response_["incomplete_details"] = {{"reason", "max_output_tokens"}};
    send("response.incomplete", {{"response", response_}});
  } else {
    response_["status"] = "completed";
    send("response.completed", {{"response", response_}});
  }
}

}  // namespace nmc::api
