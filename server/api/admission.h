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
// `options.n` answers to each prompt, in their order; all of them or none.
std::variant<Generations, http::Response> admit(const ServedModel& model,
                                                std::vector<std::vector<int32_t>> prompts,
                                                const GenerationOptions& options,
                                                int64_t top_logprobs);

// The device failed while the request ran.
bool failed(RunEnd end, const Generation& generation);

// prefix and 24 random letters and digits.
std::string random_id(const char* prefix);

}  // namespace nmc::api
