// Several engines behind one door: the same model on several devices of a host.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/engine/engine_choice.h"

namespace nmc {

// A request runs on one engine from its beginning to its end; EngineChoice says on which. When that
// one's queue is full or its device failed, the next one takes it. Thread-safe.
class EngineGroup {
 public:
  // At least one; all on the same model with the same context.
  explicit EngineGroup(std::vector<std::unique_ptr<Engine>> engines);

  // As Engine::submit; all answers to a request come from one engine. An error when every engine
  // refused: that of the first that was asked.
  Result<std::vector<std::shared_ptr<Generation>>> submit(const GenerationRequest& request,
                                                          int64_t n);

  int64_t context() const { return engines_.front()->context(); }
  // Answers that can be asked for at once: one engine's.
  int64_t max_queue() const { return engines_.front()->max_queue(); }
  const ModelDescription& model() const { return engines_.front()->model(); }
  // Of all engines together; healthy while one is.
  EngineStats stats() const;
  std::vector<EngineStats> stats_of_each() const;
  // All slots, engine by engine.
  std::vector<std::optional<Generation::Progress>> slots() const;

 private:
  std::vector<EngineLoad> loads() const;

  std::vector<std::unique_ptr<Engine>> engines_;
  EngineChoice choice_;
};

}  // namespace nmc
