#include "server/startup/banner.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace nmc::startup {
namespace {

// An agent must know the limits: it shortens its conversation by them.
std::string opencode_snippet(const api::ServedModel& model, const std::string& url, bool keyed) {
  const int64_t context = model.engine->context();
  Json entry = {
      {"name", model.name},
      {"tool_call", model.text.chat_template != nullptr},
      {"reasoning", model.text.dialect != Dialect::kPlain},
      {"limit", {{"context", context}, {"output", std::min<int64_t>(32'768, context / 4)}}}};
  Json models = Json::object();
  models[model.name] = std::move(entry);
  Json snippet = {
      {"provider",
       {{"nmc",
         {{"npm", "@ai-sdk/openai-compatible"},
          {"name", "nmc"},
          {"options", {{"baseURL", url + "/v1"}, {"apiKey", keyed ? "{env:NMC_API_KEY}" : "none"}}},
          {"models", std::move(models)}}}}},
      {"model", "nmc/" + model.name}};
  return snippet.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string banner(const Loaded& loaded, const std::string& url, bool keyed) {
  const api::ServedModel& model = *loaded.model;
  const ModelDescription& m = model.engine->model();
  std::string text;
  auto line = [&](const char* key, const std::string& value) {
    text += std::string(key) + std::string(12 - std::string(key).size(), ' ') + value + "\n";
  };
  line("model", model.name + " (" + m.architecture + ", " +
                    human_bytes(static_cast<double>(model.bytes)) + ")");
  line("parameters", human_count(static_cast<double>(m.parameters())) + ", " +
                         human_count(static_cast<double>(m.active_parameters())) + " per token");
  line("device", model.device);
  line("context", std::to_string(model.engine->context()) + " tokens");
  line("slots", std::to_string(loaded.slots));
  line("KV memory", human_bytes(static_cast<double>(loaded.kv_bytes)));
  if (url.starts_with("unix:")) {
    line("socket", url.substr(5));
    return text;
  }
  line("URL", url + "/v1");
  text += "\nopencode.json for this server:\n" + opencode_snippet(model, url, keyed) + "\n";
  return text;
}

std::string url_of(const std::string& host, int port) {
  if (port < 0) return "unix:" + host;
  std::string shown = host == "0.0.0.0" || host == "::" ? "127.0.0.1" : host;
  if (shown.find(':') != std::string::npos) shown = "[" + shown + "]";
  return "http://" + shown + ":" + std::to_string(port);
}

}  // namespace nmc::startup
