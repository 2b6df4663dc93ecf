// From a parsed request to a running generation, or the error that is sent instead.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/api/generation_options.h"
#include "server/api/run.h"
#include "server/api/served_model.h"

namespace nmc::api {

// Everything that can be refused is refused here, before any header is sent: a client can act on
// a status code, and hardly on an error inside a stream.
std::variant<std::shared_ptr<RunningGeneration>, http::Response> admit(
    const ServedModel& model, std::vector<int32_t> prompt, const GenerationOptions& options,
    int64_t top_logprobs);

// The answer to a client whose device failed while it waited.
http::Response failed_response(const Generation& generation);
Json failed_event(const Generation& generation);
bool failed(RunEnd end, const Generation& generation);

// prefix and 24 random letters and digits.
std::string random_id(const char* prefix);

}  // namespace nmc::api
