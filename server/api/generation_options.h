// The fields that completions and chat completions share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/engine/request.h"
#include "server/api/answer_format.h"
#include "server/api/grammars.h"
#include "server/http/message.h"

namespace nmc::api {

inline constexpr int64_t kMaxTopLogprobs = 20;
inline constexpr int64_t kMaxAnswers = 128;

struct GenerationOptions {
  SamplingParams sampling;
  int64_t max_tokens = INT64_MAX;
  bool prompt_logprobs = false;  // set by the endpoint
  bool ignore_eos = false;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_token_ids;  // below the vocabulary's end: see admit
  int64_t min_tokens = 0;
  int64_t n = 1;  // answers to each prompt
  AnswerFormat format;
  Constraint constraint{};                                // set by the endpoint
  std::optional<GenerationRequest::Deadline> deadline{};  // set by the endpoint
  std::string session{};  // requests of one dialogue bear its name; empty: none
  bool stream = false;
  bool include_usage = false;  // of a stream
};

// The body of a request: an object within sane limits.
Result<Json> parse_body(std::string_view body);

// Types are checked here; the ranges of the sampling fields by Engine::submit. `max_tokens` is
// left alone unless the request has one, which must be `least_tokens` or more.
Result<GenerationOptions> parse_generation_options(const Json& body, const SamplingParams& defaults,
                                                   int64_t least_tokens = 1);

// The dialogue that a request belongs to, by what agents send: a hint for the prefix cache.
std::string session_of(const http::Request& request, const Json& body);

// Token ids of a request's field, each in [0, vocab).
Result<std::vector<int32_t>> parse_token_ids(const Json& list, const char* field, int64_t vocab);

// Refuses, by name, what would change the answer and is not implemented: to ignore it silently
// would be to lie.
Status refuse_unsupported(const Json& body);

}  // namespace nmc::api
