#include "server/api/chat_chunks.h"

#include "server/api/logprobs.h"

namespace nmc::api {
namespace {

using Kind = ChatDelta::Kind;

Json envelope(const ServedModel& model, const ChatIdentity& identity, const char* object) {
  return {{"id", identity.id},
          {"object", object},
          {"created", identity.created},
          {"model", model.name}};
}

Json tool_call(const ChatDelta& delta) {
  if (delta.kind == Kind::kCallArguments) {
    return {{"index", delta.index}, {"function", {{"arguments", delta.text}}}};
  }
  return {{"index", delta.index},
          {"id", delta.id},
          {"type", "function"},
          {"function", {{"name", delta.name}, {"arguments", ""}}}};
}

// Clients look for it under one of these.
constexpr const char* kReasoningNames[] = {"reasoning_content", "reasoning"};

Json reasoning(const std::string& text) {
  Json delta;
  for (const char* name : kReasoningNames) delta[name] = text;
  return delta;
}

void append(const std::string& text, Json* field) {
  *field = (field->is_string() ? field->get_ref<const std::string&>() : "") + text;
}

}  // namespace

Json ChatChunks::chunk(size_t choice, Json delta, const char* finish_reason) const {
  Json chunk = envelope(model_, identity_, "chat.completion.chunk");
  Json item = {{"index", choice}, {"delta", std::move(delta)}, {"logprobs", nullptr}};
  item["finish_reason"] = finish_reason ? Json(finish_reason) : Json();
  chunk["choices"] = Json::array({std::move(item)});
  return chunk;
}

Json ChatChunks::role(size_t choice) const {
  return chunk(choice, {{"role", "assistant"}, {"content", ""}}, nullptr);
}

Json ChatChunks::delta(size_t choice, const ChatDelta& delta) const {
  switch (delta.kind) {
    case Kind::kReasoning:
      return chunk(choice, reasoning(delta.text), nullptr);
    case Kind::kContent: {
      Json json = chunk(choice, {{"content", delta.text}}, nullptr);
      if (logprobs_) {
        json["choices"][0]["logprobs"] = chat_logprobs(*model_.text.tokenizer, delta.tokens);
      }
      return json;
    }
    default:
      return chunk(choice, {{"tool_calls", Json::array({tool_call(delta)})}}, nullptr);
  }
}

Json ChatChunks::finish(size_t choice, const char* reason) const {
  return chunk(choice, Json::object(), reason);
}

Json ChatChunks::usage(const Usage& usage) const {
  Json chunk = envelope(model_, identity_, "chat.completion.chunk");
  chunk["choices"] = Json::array();
  chunk["usage"] = usage_json(usage);
  return chunk;
}

Json chat_choice(const ServedModel& model, size_t choice, const std::vector<ChatDelta>& deltas,
                 bool logprobs, const char* reason) {
  Json message = {{"role", "assistant"}, {"content", nullptr}};
  Json calls = Json::array();
  std::vector<GeneratedToken> tokens;
  for (const ChatDelta& delta : deltas) {
    switch (delta.kind) {
      case Kind::kReasoning:
        for (const char* name : kReasoningNames) append(delta.text, &message[name]);
        break;
      case Kind::kContent:
        append(delta.text, &message["content"]);
        tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
        break;
      case Kind::kCallBegin:
        calls.push_back(tool_call(delta));
        calls.back().erase("index");
        break;
      case Kind::kCallArguments:
        append(delta.text, &calls.back()["function"]["arguments"]);
        break;
    }
  }
  if (!calls.empty()) {
    message["tool_calls"] = std::move(calls);
  } else if (message["content"].is_null()) {
    message["content"] = "";
  }
  Json item = {{"index", choice}, {"message", std::move(message)}};
  item["logprobs"] = logprobs ? chat_logprobs(*model.text.tokenizer, tokens) : Json();
  item["finish_reason"] = reason;
  return item;
}

Json chat_completion(const ServedModel& model, const ChatIdentity& identity, Json choices,
                     const Usage& usage) {
  Json body = envelope(model, identity, "chat.completion");
  body["choices"] = std::move(choices);
  body["usage"] = usage_json(usage);
  return body;
}

}  // namespace nmc::api
