// From tokens to what a chat client sees: reasoning, content and tool calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/request.h"
#include "runtime/text/dialect/dialect.h"
#include "runtime/text/tokenizer/detokenizer.h"
#include "server/api/visible_text.h"

namespace nmc::api {

struct ChatDelta {
  enum class Kind { kReasoning, kContent, kCallBegin, kCallArguments };

  Kind kind = Kind::kContent;
  std::string text{};
  int index = -1;            // of the call
  std::string id{}, name{};  // kCallBegin
  std::vector<GeneratedToken>
      tokens{};  // kContent: those shown now, when log-probabilities are kept
};

struct ChatOutputOptions {
  Dialect dialect = Dialect::kPlain;
  StartMode start = StartMode::kContent;
  bool tools = false;
  bool parallel_calls = true;
  bool json_answer = false;  // markers inside its strings are data
  bool citations = false;    // the prompt asks for them
  Json declared{};           // the tools; null: none
  bool keep_tokens = false;
  std::vector<std::string> stop;  // in the content only
};

// One answer. Streamed or whole, it is made of the same deltas. Not thread-safe.
class ChatOutput {
 public:
  ChatOutput(const Tokenizer& tokenizer, ChatOutputOptions options);

  // Appends what the token adds. False: the answer is over (a stop string, or its only call).
  bool push(const GeneratedToken& token, std::vector<ChatDelta>* out);
  // Appends what was held back. `cut`: a limit ended the answer, not the model.
  void finish(bool cut, std::vector<ChatDelta>* out);

  int64_t reasoning_tokens() const { return reasoning_tokens_; }
  bool has_calls() const { return has_calls_; }
  // The stop string that ended it; empty: none.
  const std::string& stop_string() const { return content_.stop_string(); }

 private:
  void take(const GeneratedToken* token, std::vector<ChatDelta>* out);
  void add_content(VisiblePiece piece, std::vector<ChatDelta>* out);

  const Tokenizer& tokenizer_;
  const Dialect dialect_;
  const bool parallel_calls_;
  Detokenizer detokenizer_;
  std::unique_ptr<DialectParser> parser_;
  VisibleText content_;
  std::vector<DialectEvent> events_;  // of the last step
  bool in_reasoning_;
  bool has_calls_ = false;
  bool over_ = false;
  int64_t reasoning_tokens_ = 0;
};

}  // namespace nmc::api
