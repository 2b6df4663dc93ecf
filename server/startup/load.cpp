#include "server/startup/load.h"

#include <algorithm>

#include "kernels/open.h"
#include "runtime/base/log.h"
#include "runtime/format/fingerprint.h"
#include "runtime/format/model_file.h"
#include "server/startup/memory.h"

namespace nmc::startup {
namespace {

// Opens an executor with what memory allows: the device's own, or its part of this machine's, of
// which `sharers` devices want some. A device has its own idea of that: while it refuses for want
// of memory, it is asked for half as much.
Result<std::unique_ptr<Executor>> open_fitting(const Options& options, const std::string& device,
                                               uint64_t sharers,
                                               const std::shared_ptr<const ModelFile>& file,
                                               EngineOptions wanted, MemoryPlan* plan) {
  NMC_ASSIGN(const std::optional<DeviceMemory> own, device_memory(device, file->model()));
  if (own) wanted.prefill_chunk = own->prefill_chunk;
  uint64_t budget = own ? own->kv_bytes : memory_budget(file->header().file_bytes) / sharers;
  if (options.kv_memory > 0) budget = options.kv_memory;
  // float32: the widest that an executor keeps in this machine's memory.
  const int value_bytes = own ? sizeof(Bf16) : sizeof(float);
  Status refused;
  for (;;) {
    auto next = plan_memory(file->model(), wanted, budget, value_bytes);
    if (!next.ok()) return refused.ok() ? next.status() : refused;
    *plan = std::move(next).value();
    auto executor = open_executor(device, file, plan->capacity);
    if (executor.ok() || executor.status().code() != StatusCode::kExhausted) return executor;
    refused = executor.status();
    budget = plan->kv_bytes / 2;
  }
}

// Where engine `index` of `count` keeps its pages: a file of its own.
std::filesystem::path cache_file_of(const Options& options, size_t index, size_t count) {
  if (count == 1 || options.cache_file.empty()) return options.cache_file;
  return options.cache_file.string() + "." + std::to_string(index);
}

// An engine for each device, all with the same context: a conversation must fit whichever takes it.
Status open_engines(const Options& options, const std::shared_ptr<const ModelFile>& file,
                    EngineOptions wanted, Loaded* loaded) {
  NMC_ASSIGN(const std::vector<std::string> devices, device_list(options.device));
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<std::string> names;
  for (size_t i = 0; i < devices.size(); ++i) {
    MemoryPlan plan;
    NMC_ASSIGN(auto executor,
               open_fitting(options, devices[i], devices.size() - i, file, wanted, &plan));
    if (!plan.note.empty()) log_warning(plan.note);
    if (i > 0 && plan.options.context != wanted.context) {
      return exhausted(devices[i] + " holds a context of " + std::to_string(plan.options.context) +
                       " tokens, and " + devices[0] + " one of " + std::to_string(wanted.context) +
                       ": name one with --ctx-size that both hold");
    }
    wanted.context = plan.options.context;
    names.push_back(executor->name());
    if (const auto path = cache_file_of(options, i, devices.size()); !path.empty()) {
      plan.options.cache_file = {
          .path = path, .identity = fingerprint(file->header()), .max_bytes = plan.kv_bytes};
    }
    NMC_ASSIGN(auto engine, Engine::create(std::move(executor), plan.options));
    engines.push_back(std::move(engine));
    loaded->kv_bytes += plan.kv_bytes;
    loaded->slots += plan.options.parallel;
  }
  for (const std::string& name : names) {
    loaded->model->device += (loaded->model->device.empty() ? "" : "; ") + name;
  }
  api::set_engines(*loaded->model, std::move(engines));
  return {};
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
  loaded.model->build = NMC_VERSION;
  NMC_TRY(open_engines(options, file, wanted, &loaded));
  return loaded;
}

}  // namespace nmc::startup
