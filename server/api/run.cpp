#include "server/api/run.h"

namespace nmc::api {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// One call of run_generations.
class Run {
 public:
  Run(const Generations& generations, Metrics& metrics, const RunHandlers& handlers)
      : generations_(generations), metrics_(metrics), handlers_(handlers) {
    for (size_t i = 0; i < generations.size(); ++i) open_.push_back({i});
  }

  bool over() const { return open_.empty(); }

  // Waits for a token of one generation, and asks the others without waiting.
  void step() {
    // Steps of the device hold a token of each that runs, but the first may still be in the queue.
    milliseconds wait(open_.size() > 1 ? 5 : 50);
    bool idle = true;
    for (Open& answer : open_) {
      idle &= !take(&answer, idle ? wait : milliseconds(0));
      wait = milliseconds(0);
    }
    std::erase_if(open_, [](const Open& answer) { return answer.ended; });
    if (idle) handlers_.on_idle();
  }

  void end_all(RunEnd end) {
    for (Open& answer : open_) finish(&answer, end);
    open_.clear();
  }

 private:
  struct Open {
    size_t index;
    Clock::time_point last{};  // when its last token came
    bool ended = false;
  };

  // False: nothing has happened.
  bool take(Open* answer, milliseconds wait) {
    const size_t i = answer->index;
    RunningGeneration& generation = *generations_[i];
    if (auto token = generation->next(wait)) {
      generation.count(1);
      observe(answer, generation);
      if (!handlers_.on_token(i, *token)) finish(answer, RunEnd::kEnough);
      return true;
    }
    if (!generation->finished()) return false;
    generation.count(generation->progress().end_tokens);
    finish(answer, RunEnd::kFinished);
    return true;
  }

  void observe(Open* answer, const RunningGeneration& generation) {
    const auto now = Clock::now();
    bool first = answer->last == Clock::time_point();
    std::chrono::duration<double> time = now - (first ? generation.begun() : answer->last);
    (first ? metrics_.first_token : metrics_.inter_token).observe(time.count());
    answer->last = now;
  }

  void finish(Open* answer, RunEnd end) {
    const size_t i = answer->index;
    if (end != RunEnd::kFinished) (*generations_[i])->cancel();
    answer->ended = true;
    handlers_.on_end(i, end);
  }

  const Generations& generations_;
  Metrics& metrics_;
  const RunHandlers& handlers_;
  std::vector<Open> open_;
};

}  // namespace

void run_generations(const Generations& generations, http::Client& client,
                     const RunControl& control, const RunHandlers& handlers) {
  Run run(generations, control.metrics, handlers);
  while (!run.over()) {
    if (client.gone()) return run.end_all(RunEnd::kGone);
    if (control.cut.load()) return run.end_all(RunEnd::kCut);
    run.step();
  }
}

const char* finish_reason(RunEnd end, const Generation& generation) {
  if (end == RunEnd::kEnough) return "stop";
  bool stopped = end == RunEnd::kFinished && generation.reason() == FinishReason::kStop;
  return stopped ? "stop" : "length";
}

}  // namespace nmc::api
