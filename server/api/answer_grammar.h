// What an answer must fit, given its request and the dialect of the model.
#pragma once

#include "runtime/text/dialect/dialect.h"
#include "server/api/chat_completion_request.h"
#include "server/api/grammars.h"

namespace nmc::api {

// Chat. Reasoning, where the prompt opens it, is free text up to its end. Behind it
// - a required call: nothing but calls;
// - an answer format: such an answer, or calls where there are tools;
// - tools alone: anything, but from the opening marker of a call on only calls.
// Calls are of the tools that may be called, with arguments that fit their schemas.
Result<Constraint> chat_constraint(Grammars& grammars, Dialect dialect, StartMode start,
                                   const ChatCompletionRequest& request);

// Completions: the whole text has the format.
Result<Constraint> text_constraint(Grammars& grammars, const AnswerFormat& format);

// Sets the deadline that ends the reasoning of an answer that begins with it, if the request has a
// budget for that.
Status limit_reasoning(const Grammars& grammars, Dialect dialect, ChatCompletionRequest* request);

// Biases that keep the model from opening a call.
void ban_calls(const Grammars& grammars, Dialect dialect, std::vector<TokenBias>* biases);

}  // namespace nmc::api
