// Answers by a model in this process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/engine/engine.h"
#include "runtime/text/chat/text_model.h"
#include "tools/chat/answerer.h"

namespace nmc {

struct LocalOptions {
  std::filesystem::path model;
  std::string device = "auto";
  int64_t context = 8192;  // tokens; clamped to the model's
};

class LocalAnswerer : public Answerer {
 public:
  static Result<std::unique_ptr<Answerer>> open(const LocalOptions& options);

  Result<AnswerStats> answer(const Json& messages, const AnswerSettings& settings,
                             const std::function<void(const AnswerPiece&)>& on_piece,
                             const std::function<bool()>& stopped) override;

 private:
  LocalAnswerer(TextModel text, SamplingParams defaults, std::unique_ptr<Engine> engine)
      : text_(std::move(text)), defaults_(std::move(defaults)), engine_(std::move(engine)) {}

  TextModel text_;
  SamplingParams defaults_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace nmc
