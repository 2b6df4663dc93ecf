#include "tools/bench/stream_client.h"

#include "tools/http/event_client.h"

namespace nmc::bench {
namespace {

bool has_text(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() && !it->get_ref<const std::string&>().empty();
}

// A choice of a chunk that shows the user something new.
bool shows_something(const Json& choice) {
  if (!choice.is_object()) return false;
  if (has_text(choice, "text")) return true;
  auto delta = choice.find("delta");
  if (delta == choice.end() || !delta->is_object()) return false;
  for (const char* key : {"content", "reasoning_content", "reasoning"}) {
    if (has_text(*delta, key)) return true;
  }
  auto calls = delta->find("tool_calls");
  return calls != delta->end() && calls->is_array() && !calls->empty();
}

}  // namespace

Status StreamedAnswer::take(const Json& event, TimePoint now) {
  if (!event.is_object()) return corrupt("an event of the stream is no object");
  if (auto error = event.find("error"); error != event.end()) {
    const bool said = error->is_object() && has_text(*error, "message");
    return internal_error("the stream broke: " +
                          (said ? (*error)["message"].get<std::string>() : dump_json(*error)));
  }
  const Json choices = event.value("choices", Json::array());
  for (const Json& choice : choices) {
    if (!shows_something(choice)) continue;
    pieces.push_back(now);
    break;
  }
  const Json usage = event.value("usage", Json());
  if (usage.is_object()) {
    NMC_ASSIGN(tokens, json_int(usage, "completion_tokens", "usage", 0));
  }
  return {};
}

Result<StreamedAnswer> stream_answer(const std::string& url, const std::string& path,
                                     const Json& body, std::chrono::seconds patience) {
  NMC_ASSIGN(const auto client, EventClient::create(url, "", patience));
  StreamedAnswer answer;
  answer.sent = std::chrono::steady_clock::now();
  Status status;
  NMC_TRY(client->post(path, body, [&](const Json& event) {
    status = answer.take(event, std::chrono::steady_clock::now());
    return status.ok();
  }));
  NMC_TRY(status);
  if (answer.tokens == 0) answer.tokens = static_cast<int64_t>(answer.pieces.size());
  return answer;
}

}  // namespace nmc::bench
