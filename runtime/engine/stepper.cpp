#include "runtime/engine/stepper.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/engine/step_rows.h"

namespace nmc {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

bool reads(const Scheduler::Work& work) {
  return work.sequence->reading();
}
bool is_reading(const std::unique_ptr<Sequence>& sequence) {
  return sequence->reading();
}

}  // namespace

Stepper::Stepper(Executor* executor, Scheduler* scheduler, StepperOptions options, Accept accept)
    : executor_(executor),
      scheduler_(scheduler),
      options_(options),
      accept_(std::move(accept)),
      share_(options.decode_share),
      burst_(options.burst_seconds),
      draws_(options.threads) {}

Status Stepper::step() {
  const Work work = scheduler_->next_step(share_.prefill_due());
  if (work.empty()) return {};  // all who could have run had to yield; others will
  if (executor_->most_steps() == 0) return run_together(work);
  Work decoding, reading;
  for (const Scheduler::Work& w : work) (reads(w) ? reading : decoding).push_back(w);
  if (!decoding.empty()) NMC_TRY(decode(decoding));
  return reading.empty() ? Status() : read(reading);
}

Status Stepper::run_together(const Work& work) {
  const std::vector<SequenceStep> batch = steps_of(work);
  const bool read = std::any_of(work.begin(), work.end(), reads);
  const bool decoded = !std::all_of(work.begin(), work.end(), reads);
  const Stopwatch watch;
  NMC_TRY(executor_->forward(batch, &logits_));
  share_.spent(watch.seconds(), decoded, read);
  finish(work);
  return {};
}

Status Stepper::decode(const Work& work) {
  const int64_t steps = burst_of(work);
  const std::vector<DecodeStep> batch = decode_steps_of(work);
  const Stopwatch watch;
  NMC_TRY(executor_->decode(batch, steps, options_.vocabulary, &decoded_));
  share_.spent(watch.seconds(), true, false);
  burst_.took(watch.seconds(), steps);
  return take_burst(work, batch, steps);
}

Status Stepper::read(const Work& work) {
  const std::vector<SequenceStep> batch = steps_of(work);
  Stopwatch watch;
  const Pauses pauses{.seconds = options_.pause_seconds, .pause = [&]() -> Status {
                        Status status = pause(watch.seconds());
                        watch = {};
                        return status;
                      }};
  NMC_TRY(executor_->forward_with_pauses(batch, &logits_, pauses));
  const auto& running = scheduler_->running();
  const bool streams = !std::all_of(running.begin(), running.end(), is_reading);
  share_.read_alone(watch.seconds(), streams);
  finish(work);
  return {};
}

Status Stepper::pause(double seconds) {
  share_.read_alone(seconds, true);
  while (!share_.prefill_due()) {
    Work work = scheduler_->next_decodes();
    std::erase_if(work, [](const Scheduler::Work& w) {
      return w.sequence->generation->cancel_requested();  // it ends when the prompts are read
    });
    if (work.empty()) {
      share_.read_alone(0, false);
      break;
    }
    NMC_TRY(decode(work));
  }
  return {};
}

std::vector<SequenceStep> Stepper::steps_of(const Work& work) const {
  std::vector<SequenceStep> batch;
  for (const auto& [s, count] : work) {
    batch.push_back({.tokens = std::span(s->tokens).subspan(static_cast<size_t>(s->processed),
                                                            static_cast<size_t>(count)),
                     .first = s->processed,
                     .global_pages = s->pages->global(),
                     .sliding_pages = s->pages->sliding(),
                     .logits = logits_wanted(*s, count)});
  }
  return batch;
}

// As many steps as everybody can go without the host, and has pages for.
int64_t Stepper::burst_of(const Work& work) {
  int64_t most = executor_->most_steps();
  for (const auto& [s, count] : work) {
    most = std::min(
        {most, s->chooser->free_draws(), s->token_limit - static_cast<int64_t>(s->tokens.size())});
  }
  const auto& running = scheduler_->running();
  const bool waiting = std::any_of(running.begin(), running.end(), is_reading);
  // Streams that have just stood back for a prompt get their next tokens soon.
  const double left = waiting || share_.owed() > 0 ? share_.owed() : HUGE_VAL;
  int64_t steps = most <= 1 ? 1 : burst_.steps(most, left);
  for (const auto& [s, count] : work) {
    while (steps > 1 && !scheduler_->reserve(s, steps)) --steps;
  }
  return steps;
}

std::vector<DecodeStep> Stepper::decode_steps_of(const Work& work) const {
  std::vector<DecodeStep> batch;
  for (const auto& [s, count] : work) {
    DecodeStep step{.token = s->tokens.back(),
                    .position = s->processed,
                    .global_pages = s->pages->global(),
                    .sliding_pages = s->pages->sliding()};
    if (s->chooser->free_draws() > 0) step.draw = s->chooser->device_draw();
    batch.push_back(step);
  }
  return batch;
}

Status Stepper::take_burst(const Work& work, const std::vector<DecodeStep>& batch, int64_t steps) {
  std::vector<Sequence*> drawing;
  for (size_t i = 0; i < work.size(); ++i) {
    Sequence* s = work[i].sequence;
    if (!batch[i].draw) {
      done(work[i]);
      drawing.push_back(s);
      continue;
    }
    // Tokens behind one that ends the sequence, or takes its draws back to the host, never were:
    // what lies behind `processed` in its pages is written again.
    for (size_t step = 0; step < static_cast<size_t>(steps); ++step) {
      if (step > 0 && s->chooser->free_draws() == 0) break;
      done(work[i]);
      if (!accept_(s, GeneratedToken{decoded_.tokens[step * work.size() + i], 0, {}})) break;
    }
  }
  draw(drawing, decoded_.logits);
  return {};
}

void Stepper::finish(const Work& work) {
  StepRows rows = sort_rows(work, logits_, executor_->model().vocab, options_.vocabulary);
  for (const Scheduler::Work& w : work) done(w);
  draws_.run(rows.scores);
  for (TokenScore& s : rows.scores) s.sequence->generation->push_prompt_score(std::move(s.token));
  draws_.run(rows.draws);
  for (TokenDraw& d : rows.draws) accept_(d.sequence, std::move(d.token));
  for (Sequence* s : rows.full) accept_(s, GeneratedToken{});
}

void Stepper::draw(const std::vector<Sequence*>& sequences,
                   const std::vector<std::span<const float>>& rows) {
  std::vector<TokenDraw> draws;
  for (size_t i = 0; i < sequences.size(); ++i) {
    draws.push_back({.sequence = sequences[i],
                     .logits = rows[i].first(static_cast<size_t>(options_.vocabulary))});
  }
  draws_.run(draws);
  for (TokenDraw& d : draws) accept_(d.sequence, std::move(d.token));
}

void Stepper::done(const Scheduler::Work& work) {
  Sequence* s = work.sequence;
  const bool reading = s->reading();
  scheduler_->done(work);
  const int64_t fresh = s->generation->set_read(std::min(s->processed, s->prompt_size()));
  prompt_tokens_ += static_cast<uint64_t>(fresh);
  if (reading) recomputed_tokens_ += static_cast<uint64_t>(work.count - fresh);
}

}  // namespace nmc
