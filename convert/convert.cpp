#include "convert/convert.h"

#include <sys/statvfs.h>

#include "convert/checkpoint_source.h"
#include "convert/embedded_files.h"
#include "convert/repack.h"
#include "convert/synthetic_source.h"
#include "runtime/base/text.h"
#include "runtime/format/model_writer.h"
#include "runtime/text/chat/text_model.h"

namespace nmc {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

Status check_output(const OutputOptions& options) {
  std::error_code ignored;
  if (fs::is_directory(options.out, ignored))
    return invalid_argument(options.out.string() + " is a folder; give the name of a file");
  if (!options.replace && fs::exists(options.out, ignored))
    return invalid_argument(options.out.string() + " exists already; --force replaces it");
  return {};
}

// Even with leave to replace files: not the ones that are being read.
Status check_not_a_source(const Checkpoint& checkpoint, const fs::path& out) {
  std::error_code ignored;
  for (const MappedFile& file : checkpoint.files()) {
    if (fs::equivalent(file.path(), out, ignored))
      return invalid_argument(out.string() + " is part of the checkpoint; choose another name");
  }
  return {};
}

Status check_space(const fs::path& out, uint64_t needed) {
  fs::path folder = out.has_parent_path() ? out.parent_path() : ".";
  struct statvfs st {};
  if (::statvfs(folder.c_str(), &st) != 0)
    return not_found("the output folder " + folder.string() + " does not exist");
  uint64_t available = uint64_t{st.f_bavail} * st.f_frsize;
  if (available >= needed) return {};
  return io_error(out.string() + " needs " + human_bytes(static_cast<double>(needed)) + " but " +
                  folder.string() + " has " + human_bytes(static_cast<double>(available)) +
                  " free; free some space or choose another output folder");
}

// The generation defaults that a server may fall back to, as the checkpoint states them.
Result<Json> generation_defaults(const Files& files) {
  auto it = files.find("generation_config.json");
  if (it == files.end()) return Json::object();
  return parse_json(it->second, it->first);
}

// A server must be able to load what is embedded.
Status check_text(const Files& files) {
  NMC_ASSIGN(const TextFiles texts,
             read_text_files([&](const std::string& name) -> Result<std::string> {
               auto it = files.find(name);
               return it == files.end() ? std::string() : it->second;
             }));
  return load_text_model(texts).status().with_context("the checkpoint's text files cannot be used");
}

// By tensor: how many of its values are no numbers.
std::vector<std::string> non_finite_warnings(const std::vector<TensorSpec>& tensors,
                                             const std::vector<uint64_t>& counts) {
  std::vector<std::string> sentences;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (counts[i] == 0) continue;
    sentences.push_back("tensor \"" + tensors[i].name + "\" holds " + std::to_string(counts[i]) +
                        " values that are NaN or infinite; the model will not answer sensibly");
  }
  constexpr size_t kShown = 10;
  if (sentences.size() > kShown) {
    const size_t more = sentences.size() - kShown;
    sentences.resize(kShown);
    sentences.push_back("... and so do " + std::to_string(more) + " other tensors");
  }
  return sentences;
}

Json source_json(const Checkpoint& checkpoint, const Mapping& mapping) {
  Json json;
  json["source"] = fs::canonical(checkpoint.folder()).filename().string();
  for (const MappedFile& file : checkpoint.files()) {
    json["checkpoint_files"].push_back(
        {{"name", file.path().filename().string()}, {"bytes", file.bytes().size()}});
  }
  json["cast_to_bf16"] = Json::array();
  for (Dtype dtype : mapping.casts) json["cast_to_bf16"].push_back(dtype_name(dtype));
  json["dropped_tensors"] = mapping.dropped;
  return json;
}

Result<Converted> write_model(const WeightSource& source, Json provenance, Files files,
                              const OutputOptions& options) {
  NMC_TRY(check_output(options));
  provenance["nmc_version"] = NMC_VERSION;
  NMC_ASSIGN(provenance["generation_defaults"], generation_defaults(files));

  Converted result;
  result.model = source.model();
  if (files.contains("tokenizer.json") || files.contains("tokenizer.model")) {
    NMC_TRY(check_text(files));
  } else {
    result.warnings.push_back("the folder has no tokenizer, so the file has none");
  }
  result.file_bytes = encode_header(source.model(), provenance, files, {}).header.file_bytes;
  NMC_TRY(check_space(options.out, result.file_bytes));
  uint64_t weights = 0;
  for (const TensorSpec& t : source.tensors()) weights += t.bytes();
  Progress progress("converting", weights, options.progress);
  NMC_ASSIGN(ModelWriter writer,
             ModelWriter::create(options.out, source.model(), provenance, std::move(files)));
  NMC_ASSIGN(const auto non_finite,
             repack(
                 source, options.threads, [&](uint64_t bytes) { progress.add(bytes); }, &writer));
  for (std::string& sentence : non_finite_warnings(source.tensors(), non_finite))
    result.warnings.push_back(std::move(sentence));
  progress.say("waiting until everything is on disk");
  NMC_TRY(writer.finish());
  result.seconds = progress.seconds();
  return result;
}

}  // namespace

Result<Converted> convert_checkpoint(const fs::path& folder, bool cast_bf16,
                                     const OutputOptions& options) {
  NMC_ASSIGN(Checkpoint checkpoint, Checkpoint::open(folder));
  NMC_TRY(check_not_a_source(checkpoint, options.out));
  NMC_ASSIGN(Mapping mapping, map_checkpoint(checkpoint, cast_bf16));
  NMC_ASSIGN(Files files, read_embedded_files(folder));
  Json provenance = source_json(checkpoint, mapping);
  return write_model(CheckpointSource(checkpoint, std::move(mapping)), std::move(provenance),
                     std::move(files), options);
}

Result<Converted> convert_synthetic(const fs::path& config, const fs::path& tokenizer,
                                    const OutputOptions& options) {
  NMC_ASSIGN(ModelDescription model, read_model_description(config, {}));
  NMC_ASSIGN(Files files, read_embedded_files(tokenizer));
  files.erase("generation_config.json");  // it belongs to the tokenizer's own model
  NMC_ASSIGN(files["config.json"], read_file(config, kMaxConfigBytes));
  Json provenance{{"source", "synthetic weights"}, {"config", config.filename().string()}};
  return write_model(SyntheticSource(model), std::move(provenance), std::move(files), options);
}

}  // namespace nmc
