// Whatever answers a conversation: a model in this process, or a server.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

// What the user chose; the rest is the model's own default.
struct AnswerSettings {
  std::optional<double> temperature = {}, top_p = {}, min_p = {};
  std::optional<int64_t> top_k = {}, seed = {}, max_tokens = {};
  std::optional<bool> reasoning = {};
};

struct AnswerPiece {
  std::string text;
  bool reasoning = false;  // not part of the answer proper
};

struct AnswerStats {
  int64_t prompt_tokens = 0, cached_tokens = 0;  // the cached ones did not have to be read
  int64_t tokens = 0;
  double first_seconds = 0;  // until the first token
  double seconds = 0;        // in all
  bool cut = false;          // a limit ended the answer
};

// One answer at a time.
class Answerer {
 public:
  virtual ~Answerer() = default;

  // Answers `messages`, a list as in a chat request. Calls `on_piece` on this thread as text comes,
  // and gives the answer up once `stopped` (called from any thread) is true. Errors are sentences
  // for the user; what was said before one stays said.
  virtual Result<AnswerStats> answer(const Json& messages, const AnswerSettings& settings,
                                     const std::function<void(const AnswerPiece&)>& on_piece,
                                     const std::function<bool()>& stopped) = 0;
};

}  // namespace nmc
