// The endpoints, one file each. Thread-safe; every failure is a response.
#pragma once

#include "server/api/call.h"

namespace nmc::api {

http::Response completions(const Call& call);       // POST /v1/completions
http::Response chat_completions(const Call& call);  // POST /v1/chat/completions
http::Response models(const Call& call);            // GET /v1/models, /v1/models/{id}
http::Response tokenize(const Call& call);          // POST /tokenize
http::Response detokenize(const Call& call);        // POST /detokenize
http::Response apply_template(const Call& call);    // POST /apply-template

}  // namespace nmc::api
