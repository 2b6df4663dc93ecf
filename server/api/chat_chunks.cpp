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

void append(const std::string& text, Json* field) {
  *field = (field->is_string() ? field->get_ref<const std::string&>() : "") + text;
}

}  // namespace

Json ChatChunks::chunk(Json delta, const char* finish_reason) const {
  Json chunk = envelope(model_, identity_, "chat.completion.chunk");
  Json choice = {{"index", 0}, {"delta", std::move(delta)}, {"logprobs", nullptr}};
  choice["finish_reason"] = finish_reason ? Json(finish_reason) : Json();
  chunk["choices"] = Json::array({std::move(choice)});
  return chunk;
}

Json ChatChunks::role() const {
  return chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
}

Json ChatChunks::delta(const ChatDelta& delta) const {
  switch (delta.kind) {
    case Kind::kReasoning:
      return chunk({{"reasoning_content", delta.text}}, nullptr);
    case Kind::kContent: {
      Json json = chunk({{"content", delta.text}}, nullptr);
      if (logprobs_) {
        json["choices"][0]["logprobs"] = chat_logprobs(*model_.tokenizer, delta.tokens);
      }
      return json;
    }
    default:
      return chunk({{"tool_calls", Json::array({tool_call(delta)})}}, nullptr);
  }
}

Json ChatChunks::finish(const char* reason) const {
  return chunk(Json::object(), reason);
}

Json ChatChunks::usage(const Usage& usage) const {
  Json chunk = envelope(model_, identity_, "chat.completion.chunk");
  chunk["choices"] = Json::array();
  chunk["usage"] = usage_json(usage);
  return chunk;
}

Json chat_completion(const ServedModel& model, const ChatIdentity& identity,
                     const std::vector<ChatDelta>& deltas, bool logprobs, const char* reason,
                     const Usage& usage) {
  Json message = {{"role", "assistant"}, {"content", nullptr}};
  Json calls = Json::array();
  std::vector<GeneratedToken> tokens;
  for (const ChatDelta& delta : deltas) {
    switch (delta.kind) {
      case Kind::kReasoning:
        append(delta.text, &message["reasoning_content"]);
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
  Json choice = {{"index", 0}, {"message", std::move(message)}};
  choice["logprobs"] = logprobs ? chat_logprobs(*model.tokenizer, tokens) : Json();
  choice["finish_reason"] = reason;
  Json body = envelope(model, identity, "chat.completion");
  body["choices"] = Json::array({std::move(choice)});
  body["usage"] = usage_json(usage);
  return body;
}

}  // namespace nmc::api
