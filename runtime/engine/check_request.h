// What a request must satisfy before it is queued.
#pragma once

#include "runtime/base/status.h"
#include "runtime/engine/request.h"

namespace nmc {

// Errors name the field and its range.
Status check_sampling(const SamplingParams& params);

// `vocabulary`: token ids in use; `context`: tokens that one sequence may have.
Status check_request(const GenerationRequest& request, int64_t vocabulary, int64_t context);

}  // namespace nmc
