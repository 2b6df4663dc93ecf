#include "runtime/text/template/tool_results.h"

#include <algorithm>
#include <string>
#include <vector>

namespace nmc {
namespace {

std::vector<Json> ids_of(const Json& calls) {
  std::vector<Json> ids;
  for (const Json& call : calls) ids.push_back(call.value("id", Json()));
  return ids;
}

}  // namespace

Status match_tool_results(Json* messages) {
  std::vector<Json> known;    // ids of all calls so far
  std::vector<Json> waiting;  // of the last assistant's calls, those without a result
  for (size_t i = 0; i < messages->size(); ++i) {
    Json& message = (*messages)[i];
    if (message["role"] == "assistant" && message.contains("tool_calls")) {
      waiting = ids_of(message["tool_calls"]);
      known.insert(known.end(), waiting.begin(), waiting.end());
    }
    if (message["role"] != "tool") continue;
    Json id = message.value("tool_call_id", Json());
    if (id.is_null() || std::find(known.begin(), known.end(), id) == known.end()) {
      if (waiting.empty()) {
        return invalid_argument("messages[" + std::to_string(i) +
                                "].tool_call_id: no call before this message has the id " +
                                dump_json(id) + ", and none waits for a result");
      }
      id = waiting.front();
      message["tool_call_id"] = id;
    }
    auto answered = std::find(waiting.begin(), waiting.end(), id);
    if (answered != waiting.end()) waiting.erase(answered);
  }
  return {};
}

}  // namespace nmc
