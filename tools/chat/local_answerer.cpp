#include "tools/chat/local_answerer.h"

#include <algorithm>
#include <chrono>

#include "kernels/open.h"
#include "runtime/engine/generation_defaults.h"
#include "runtime/format/model_file.h"
#include "runtime/text/chat/encode_prompt.h"
#include "runtime/text/tokenizer/detokenizer.h"

namespace nmc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// From tokens to pieces of reasoning and answer.
class PieceReader {
 public:
  PieceReader(const TextModel& text, StartMode start,
              const std::function<void(const AnswerPiece&)>& on_piece)
      : detokenizer_(*text.tokenizer),
        parser_(make_parser(text.dialect, start, {.tools = false, .make_id = {}})),
        on_piece_(on_piece) {}

  void push(int32_t token) { feed(detokenizer_.push(token)); }
  void finish(bool cut) {
    feed(detokenizer_.flush());
    parser_->finish(cut, &events_);
    emit();
  }

 private:
  void feed(const std::string& text) {
    parser_->feed(text, &events_);
    emit();
  }
  void emit() {
    using Kind = DialectEvent::Kind;
    for (DialectEvent& event : events_) {
      if (event.kind != Kind::kReasoning && event.kind != Kind::kContent) continue;
      on_piece_({std::move(event.text), event.kind == Kind::kReasoning});
    }
    events_.clear();
  }

  Detokenizer detokenizer_;
  std::unique_ptr<DialectParser> parser_;
  const std::function<void(const AnswerPiece&)>& on_piece_;
  std::vector<DialectEvent> events_;
};

SamplingParams sampling_of(SamplingParams sampling, const AnswerSettings& settings) {
  sampling.temperature = settings.temperature.value_or(sampling.temperature);
  sampling.top_p = settings.top_p.value_or(sampling.top_p);
  sampling.min_p = settings.min_p.value_or(sampling.min_p);
  sampling.top_k = settings.top_k.value_or(sampling.top_k);
  if (settings.seed) sampling.seed = static_cast<uint64_t>(*settings.seed);
  return sampling;
}

}  // namespace

Result<std::unique_ptr<Answerer>> LocalAnswerer::open(const LocalOptions& options) {
  NMC_ASSIGN(ModelFile opened, ModelFile::open(options.model));
  auto file = std::make_shared<const ModelFile>(std::move(opened));
  const auto embedded = [&](const std::string& name) { return file->embedded_or_empty(name); };
  NMC_ASSIGN(const TextFiles files, read_text_files(embedded));
  auto text = load_text_model(files);
  if (!text.ok()) return text.status().with_context(options.model.string());
  NMC_ASSIGN(const std::string generation_config, embedded("generation_config.json"));
  NMC_ASSIGN(SamplingParams defaults, generation_defaults(generation_config));
  EngineOptions engine_options{.parallel = 1, .max_queue = 1};
  engine_options.context = std::min(options.context, file->model().max_context);
  engine_options.vocabulary = std::min<int64_t>(text->tokenizer->vocab_size(), file->model().vocab);
  NMC_ASSIGN(auto executor,
             open_executor(options.device, file, kv_capacity_for(file->model(), engine_options)));
  NMC_ASSIGN(auto engine, Engine::create(std::move(executor), engine_options));
  return std::unique_ptr<Answerer>(
      new LocalAnswerer(std::move(text).value(), std::move(defaults), std::move(engine)));
}

Result<AnswerStats> LocalAnswerer::answer(const Json& messages, const AnswerSettings& settings,
                                          const std::function<void(const AnswerPiece&)>& on_piece,
                                          const std::function<bool()>& stopped) {
  ChatRequest request;
  request.messages = messages;
  request.thinking = settings.reasoning;
  NMC_ASSIGN(const RenderedPrompt prompt, render_chat(text_, request));
  const auto start = Clock::now();
  NMC_ASSIGN(const auto generation,
             engine_->submit({.prompt = encode_prompt(*text_.tokenizer, prompt),
                              .max_tokens = settings.max_tokens.value_or(INT64_MAX),
                              .sampling = sampling_of(defaults_, settings)}));
  PieceReader reader(text_, start_mode(text_.dialect, prompt.text), on_piece);
  AnswerStats stats;
  constexpr std::chrono::milliseconds kSlice{50};
  while (!generation->finished()) {
    if (stopped()) generation->cancel();
    const auto token = generation->next(kSlice);
    if (!token) continue;
    if (stats.tokens++ == 0) stats.first_seconds = seconds_since(start);
    reader.push(token->token);
  }
  stats.seconds = seconds_since(start);
  stats.cut = generation->reason() != FinishReason::kStop;
  reader.finish(stats.cut);
  if (generation->reason() == FinishReason::kError) return generation->status();
  stats.prompt_tokens = generation->progress().prompt_tokens;
  stats.cached_tokens = generation->progress().cached_tokens;
  return stats;
}

}  // namespace nmc
