// The endpoints, one file each. Thread-safe; every failure is a response.
#pragma once

#include "server/api/call.h"

namespace nmc::api {

http::Response completions(const Call& call);       // POST /v1/completions
http::Response chat_completions(const Call& call);  // POST /v1/chat/completions
http::Response responses(const Call& call);         // POST /v1/responses
http::Response messages(const Call& call);          // POST /v1/messages
http::Response count_tokens(const Call& call);      // POST /v1/messages/count_tokens
http::Response models(const Call& call);            // GET /v1/models, /v1/models/{id}
http::Response tokenize(const Call& call);          // POST /tokenize
http::Response detokenize(const Call& call);        // POST /detokenize
http::Response apply_template(const Call& call);    // POST /apply-template

http::Response metrics(const Call& call);     // GET /metrics
http::Response props(const Call& call);       // GET /props
http::Response slots(const Call& call);       // GET /slots
http::Response embeddings(const Call& call);  // POST /v1/embeddings: 501

}  // namespace nmc::api
