#include "server/startup/load.h"

#include <algorithm>

#include "kernels/open.h"
#include "runtime/base/log.h"
#include "runtime/format/fingerprint.h"
#include "runtime/format/model_file.h"

namespace nmc::startup {
namespace {

// Opens the executor with what memory allows: the device's own, or this machine's. A device has its
// own idea of that: while it refuses for want of memory, it is asked for half as much.
Result<std::unique_ptr<Executor>> open_fitting(const Options& options,
                                               const std::shared_ptr<const ModelFile>& file,
                                               EngineOptions wanted, MemoryPlan* plan) {
  NMC_ASSIGN(const std::optional<DeviceMemory> own, device_memory(options.device, file->model()));
  if (own) wanted.prefill_chunk = own->prefill_chunk;
  uint64_t budget = own ? own->kv_bytes : memory_budget(file->header().file_bytes);
  if (options.kv_memory > 0) budget = options.kv_memory;
  // float32: the widest that an executor keeps in this machine's memory.
  const int value_bytes = own ? sizeof(Bf16) : sizeof(float);
  Status refused;
  for (;;) {
    auto next = plan_memory(file->model(), wanted, budget, value_bytes);
    if (!next.ok()) return refused.ok() ? next.status() : refused;
    *plan = std::move(next).value();
    auto executor = open_executor(options.device, file, plan->capacity);
    if (executor.ok() || executor.status().code() != StatusCode::kExhausted) return executor;
    refused = executor.status();
    budget = plan->kv_bytes / 2;
  }
}

}  // namespace

Result<Loaded> load(const Options& options) {
  NMC_ASSIGN(ModelFile opened, ModelFile::open(options.model));
  auto file = std::make_shared<const ModelFile>(std::move(opened));
  Loaded loaded;
  const auto read = [&](const std::string& name) { return file->embedded_or_empty(name); };
  NMC_ASSIGN(const TextFiles texts, read_text_files(read));
  NMC_ASSIGN(const std::string generation_config, read("generation_config.json"));
  auto model = api::make_served_model(texts, generation_config);
  if (!model.ok()) return model.status().with_context(options.model.string());
  loaded.model = std::move(model).value();
  loaded.model->name = options.alias;
  loaded.model->bytes = file->header().file_bytes;

  EngineOptions wanted{.context = options.context,
                       .parallel = options.parallel,
                       .max_queue = options.max_queue,
                       .decode_share = options.decode_share};
  if (wanted.context > file->model().max_context) {
    return invalid_argument("--ctx-size asks for " + std::to_string(wanted.context) +
                            " tokens; the model is made for " +
                            std::to_string(file->model().max_context));
  }
  // A model's rows beyond its tokenizer are padding.
  wanted.vocabulary =
      std::min<int64_t>(loaded.model->text.tokenizer->vocab_size(), file->model().vocab);
  NMC_ASSIGN(auto executor, open_fitting(options, file, wanted, &loaded.memory));
  if (!loaded.memory.note.empty()) log_warning(loaded.memory.note);
  loaded.model->device = executor->name();
  loaded.model->build = NMC_VERSION;
  if (!options.cache_file.empty()) {
    loaded.memory.options.cache_file = {.path = options.cache_file,
                                        .identity = fingerprint(file->header()),
                                        .max_bytes = loaded.memory.kv_bytes};
  }
  NMC_ASSIGN(auto engine, Engine::create(std::move(executor), loaded.memory.options));
  api::set_engine(*loaded.model, std::move(engine));
  return loaded;
}

}  // namespace nmc::startup
