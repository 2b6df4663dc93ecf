#include "server/api/generation_options.h"

#include <algorithm>
#include <charconv>

#include "runtime/text/chat/request_fields.h"

namespace nmc::api {
namespace {

constexpr size_t kMaxStops = 16;
constexpr size_t kMaxStopBytes = 256;

Status bad_stop() {
  return invalid_argument(
      "request: the field \"stop\" must be a string or a list of at most 16 strings, each of 1 to "
      "256 bytes");
}

Result<std::vector<std::string>> parse_stop(const Json& body) {
  std::vector<std::string> stops;
  auto it = body.find("stop");
  if (it == body.end() || it->is_null()) return stops;
  const Json list = it->is_array() ? *it : Json::array({*it});
  if (list.size() > kMaxStops) return bad_stop();
  for (const Json& stop : list) {
    if (!stop.is_string()) return bad_stop();
    stops.push_back(stop.get<std::string>());
    if (stops.back().empty() || stops.back().size() > kMaxStopBytes) return bad_stop();
  }
  return stops;
}

Status out_of_range(const char* field, const char* range) {
  return invalid_argument("request: the field \"" + std::string(field) + "\" must be " + range);
}

Status bad_bias() {
  return invalid_argument(
      "request: the field \"logit_bias\" must be an object of at most 4096 token ids, each with a "
      "number between -100 and 100");
}

// {"token id": bias}, as JSON spells an id that is a key.
Result<std::vector<TokenBias>> parse_logit_bias(const Json& body) {
  std::vector<TokenBias> biases;
  auto it = body.find("logit_bias");
  if (it == body.end() || it->is_null()) return biases;
  if (!it->is_object() || it->size() > kMaxLogitBias) return bad_bias();
  for (const auto& [key, value] : it->items()) {
    TokenBias bias;
    const char* end = key.data() + key.size();
    auto [rest, error] = std::from_chars(key.data(), end, bias.token);
    if (error != std::errc() || rest != end || bias.token < 0) return bad_bias();
    if (!value.is_number()) return bad_bias();
    bias.bias = value.get<double>();
    if (!(bias.bias >= -100 && bias.bias <= 100)) return bad_bias();
    biases.push_back(bias);
  }
  return biases;
}

Status parse_penalties(const Json& body, SamplingParams* sampling) {
  for (auto [field, penalty] : {std::pair("frequency_penalty", &sampling->frequency_penalty),
                                std::pair("presence_penalty", &sampling->presence_penalty)}) {
    NMC_ASSIGN(*penalty, json_number(body, field, kRequest, *penalty));
    if (!(*penalty >= -2 && *penalty <= 2)) return out_of_range(field, "between -2 and 2");
  }
  // Two names of one thing; the last read wins.
  for (const char* field : {"repeat_penalty", "repetition_penalty"}) {
    NMC_ASSIGN(sampling->repetition_penalty,
               json_number(body, field, kRequest, sampling->repetition_penalty));
    if (!(sampling->repetition_penalty > 0 && sampling->repetition_penalty <= 10)) {
      return out_of_range(field, "above 0 and at most 10");
    }
  }
  return {};
}

Result<SamplingParams> parse_sampling(const Json& body, SamplingParams sampling) {
  NMC_ASSIGN(sampling.temperature,
             json_number(body, "temperature", kRequest, sampling.temperature));
  NMC_ASSIGN(sampling.top_p, json_number(body, "top_p", kRequest, sampling.top_p));
  NMC_ASSIGN(sampling.min_p, json_number(body, "min_p", kRequest, sampling.min_p));
  NMC_ASSIGN(sampling.top_k, json_int(body, "top_k", kRequest, sampling.top_k));
  if (sampling.top_k == -1) sampling.top_k = 0;  // "all", as other servers write it
  if (body.contains("seed") && !body["seed"].is_null()) {
    NMC_ASSIGN(int64_t seed, json_int(body, "seed", kRequest));
    sampling.seed = static_cast<uint64_t>(seed);
  }
  NMC_TRY(parse_penalties(body, &sampling));
  NMC_ASSIGN(sampling.logit_bias, parse_logit_bias(body));
  return sampling;
}

Status parse_stream(const Json& body, GenerationOptions* options) {
  NMC_ASSIGN(options->stream, json_bool(body, "stream", kRequest, false));
  auto it = body.find("stream_options");
  if (it == body.end() || it->is_null()) return {};
  if (!it->is_object()) {
    return invalid_argument("request: the field \"stream_options\" must be an object");
  }
  NMC_ASSIGN(options->include_usage,
             json_bool(*it, "include_usage", "request: stream_options", false));
  return {};
}

Status not_supported(const char* field, const char* what) {
  return unsupported(std::string("request: ") + what + " (the field \"" + field +
                     "\") is not supported yet");
}

bool is_empty(const Json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty());
}

}  // namespace

std::string session_of(const http::Request& request, const Json& body) {
  constexpr size_t kMostBytes = 256;
  for (const char* name : {"x-session-id", "x-session-affinity", "x-claude-code-session-id"}) {
    std::string_view id = request.header(name);
    if (!id.empty()) return std::string(id.substr(0, kMostBytes));
  }
  auto it = body.find("prompt_cache_key");
  bool given = it != body.end() && it->is_string();
  return given ? it->get<std::string>().substr(0, kMostBytes) : "";
}

Result<std::vector<int32_t>> parse_token_ids(const Json& list, const char* field, int64_t vocab) {
  std::string where = std::string("request: the field \"") + field + "\"";
  if (!list.is_array()) return invalid_argument(where + " must be a list of token ids");
  std::vector<int32_t> ids;
  ids.reserve(list.size());
  for (const Json& id : list) {
    if (!id.is_number_integer()) return invalid_argument(where + " must hold token ids only");
    auto value = id.get<int64_t>();  // an unsigned one beyond the range wraps to a negative
    if (value < 0 || value >= vocab) {
      return invalid_argument(where + " holds " + id.dump() + ", which is no token id");
    }
    ids.push_back(static_cast<int32_t>(value));
  }
  return ids;
}

Result<Json> parse_body(std::string_view body) {
  const JsonLimits limits{.bytes = 32u << 20, .depth = 100, .elements = 2'000'000};
  NMC_ASSIGN(Json json, parse_json(body, "the request body", limits));
  if (!json.is_object()) return invalid_argument("the request body must be a JSON object");
  return json;
}

Result<GenerationOptions> parse_generation_options(const Json& body, const SamplingParams& defaults,
                                                   int64_t least_tokens) {
  GenerationOptions options;
  NMC_TRY(refuse_unsupported(body));
  NMC_ASSIGN(options.sampling, parse_sampling(body, defaults));
  NMC_ASSIGN(options.ignore_eos, json_bool(body, "ignore_eos", kRequest, false));
  NMC_ASSIGN(options.stop, parse_stop(body));
  NMC_TRY(parse_stream(body, &options));
  NMC_ASSIGN(options.format, parse_answer_format(body));
  // Clients say "model", and this server has one: only its type is checked.
  NMC_TRY(json_string(body, "model", kRequest, "").status());
  for (const char* key : {"max_tokens", "max_completion_tokens"}) {  // the newer name wins
    NMC_ASSIGN(int64_t n, json_int(body, key, kRequest, 0));
    bool given = body.contains(key) && !body[key].is_null();
    if (given && n < least_tokens) {
      return must_be(key,
                     "at least " + std::to_string(least_tokens) + ", not " + std::to_string(n));
    }
    if (given) options.max_tokens = n;
  }
  NMC_ASSIGN(options.n, json_int(body, "n", kRequest, 1));
  if (options.n < 1 || options.n > kMaxAnswers) return out_of_range("n", "between 1 and 128");
  NMC_ASSIGN(int64_t best_of, json_int(body, "best_of", kRequest, options.n));
  if (best_of != options.n) return not_supported("best_of", "a choice among answers");
  NMC_ASSIGN(options.min_tokens, json_int(body, "min_tokens", kRequest, 0));
  if (options.min_tokens < 0) return out_of_range("min_tokens", "at least 0");
  auto ids = body.find("stop_token_ids");
  if (ids != body.end() && !ids->is_null()) {
    NMC_ASSIGN(options.stop_token_ids, parse_token_ids(*ids, "stop_token_ids", int64_t{1} << 31));
  }
  return options;
}

Status refuse_unsupported(const Json& body) {
  for (const char* field : {"functions", "function_call"}) {
    if (body.contains(field) && !is_empty(body[field])) return not_supported(field, "this");
  }
  return {};
}

}  // namespace nmc::api
