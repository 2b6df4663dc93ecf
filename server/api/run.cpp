#include "server/api/run.h"

namespace nmc::api {

RunEnd run_generation(Generation& generation, http::Client& client, const RunControl& control,
                      const std::function<bool(const GeneratedToken&)>& on_token,
                      const std::function<void()>& on_idle) {
  constexpr std::chrono::milliseconds kSlice{50};
  for (;;) {
    if (client.gone()) {
      generation.cancel();
      return RunEnd::kGone;
    }
    if (control.cut.load()) {
      generation.cancel();
      return RunEnd::kCut;
    }
    if (auto token = generation.next(kSlice)) {
      if (on_token(*token)) continue;
      generation.cancel();
      return RunEnd::kEnough;
    }
    if (generation.finished()) return RunEnd::kFinished;
    on_idle();
  }
}

const char* finish_reason(RunEnd end, const Generation& generation) {
  if (end == RunEnd::kEnough) return "stop";
  bool stopped = end == RunEnd::kFinished && generation.reason() == FinishReason::kStop;
  return stopped ? "stop" : "length";
}

}  // namespace nmc::api
