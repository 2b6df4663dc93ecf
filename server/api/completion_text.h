// One answer of /v1/completions: from tokens to text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/text/tokenizer/detokenizer.h"
#include "server/api/completion_request.h"
#include "server/api/served_model.h"
#include "server/api/visible_text.h"

namespace nmc::api {

// Not thread-safe. The model must outlive it.
class CompletionText {
 public:
  CompletionText(const ServedModel& model, const CompletionRequest& request)
      : tokenizer_(*model.text.tokenizer),
        hide_special_(request.skip_special_tokens),
        logprobs_(request.top_logprobs >= 0),
        detokenizer_(tokenizer_),
        text_(request.options.stop, logprobs_) {}

  VisiblePiece push(const GeneratedToken& token);
  // What was held back, at the end.
  VisiblePiece flush();
  bool stopped() const { return text_.stopped(); }

  // The next token begins so many characters in front of the text.
  void begin_before_text(int64_t characters) { offset_ = -characters; }

  // An element of "choices" with a piece of this answer, or all of it.
  Json choice(size_t index, const std::string& text, const std::vector<GeneratedToken>& tokens,
              const char* reason);

 private:
  const Tokenizer& tokenizer_;
  bool hide_special_, logprobs_;
  Detokenizer detokenizer_;
  VisibleText text_;
  int64_t offset_ = 0;  // of the next token's text, in characters
};

}  // namespace nmc::api
