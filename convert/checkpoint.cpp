#include "convert/checkpoint.h"

#include <algorithm>
#include <map>
#include <set>

#include "convert/json_members.h"
#include "runtime/base/json.h"
#include "runtime/model/config.h"

namespace nmc {
namespace {

namespace fs = std::filesystem;

Result<Json> read_json(const fs::path& path) {
  NMC_ASSIGN(std::string text, read_file(path, kMaxConfigBytes));
  return parse_json(text, path.filename().string());
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

Result<ModelDescription> read_model_description(const fs::path& config,
                                                const fs::path& generation_config) {
  NMC_ASSIGN(Json json, read_json(config));
  NMC_ASSIGN(ModelDescription model, description_from_config(json));
  if (is_file(generation_config)) {
    NMC_ASSIGN(Json generation, read_json(generation_config));
    NMC_TRY(add_generation_config(generation, &model));
    NMC_TRY(check_description(model, "generation_config.json", FieldNames::kConfig));
  }
  return model;
}

Result<Checkpoint> Checkpoint::open(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return not_found(folder.string() + " is not a folder; give the checkpoint's folder");
  if (!is_file(folder / "config.json")) {
    return not_found(folder.string() +
                     " has no config.json; give the folder of a Hugging Face checkpoint");
  }
  Checkpoint c;
  c.folder_ = folder;
  NMC_ASSIGN(c.model_,
             read_model_description(folder / "config.json", folder / "generation_config.json"));
  NMC_TRY(c.open_weights());
  return c;
}

Status Checkpoint::open_weights() {
  if (is_file(folder_ / "model.safetensors")) return add_file(folder_ / "model.safetensors");
  fs::path index = folder_ / "model.safetensors.index.json";
  if (is_file(index)) return open_shards(index);

  std::set<fs::path> found;  // sorted, so that the outcome does not depend on the file system
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() == ".safetensors") found.insert(entry.path());
  }
  if (found.empty()) return not_found(folder_.string() + " holds no *.safetensors file");
  for (const fs::path& path : found) NMC_TRY(add_file(path));
  std::set<std::string_view> names;
  for (const CheckpointTensor& t : tensors_) {
    if (!names.insert(t.name).second) {
      return corrupt("tensor \"" + t.name + "\" stands in two files, the second being " +
                     files_[t.file].path().string());
    }
  }
  return {};
}

Status Checkpoint::open_shards(const fs::path& index) {
  NMC_ASSIGN(std::string text, read_file(index, kMaxSafetensorsHeader));
  std::string what = index.filename().string();
  std::map<std::string, std::vector<std::string>> shards;  // file name -> its tensors
  NMC_TRY(for_each_member(text, "weight_map", what,
                          [&](const std::string& name, const Json& file) -> Status {
                            if (!file.is_string())
                              return corrupt(what + ": \"" + name + "\" names no file");
                            shards[file.get<std::string>()].push_back(name);
                            return {};
                          }));
  for (const auto& [file, names] : shards) {
    // A shard stands beside its index; anything else is a path somewhere else.
    if (file.empty() || fs::path(file).filename() != file)
      return corrupt(what + " lists \"" + file + "\", which is not a plain file name");
    if (!is_file(folder_ / file)) {
      return not_found("the shard " + file + " that " + what + " lists is missing in " +
                       folder_.string() + " (first of its " + std::to_string(names.size()) +
                       " tensors: \"" + names.front() + "\")");
    }
    size_t before = tensors_.size();
    NMC_TRY(add_file(folder_ / file));
    std::set<std::string_view> inside;
    for (size_t i = before; i < tensors_.size(); ++i) inside.insert(tensors_[i].name);
    for (const std::string& name : names) {
      if (inside.erase(name) == 0)
        return corrupt("tensor \"" + name + "\" is not in " + file + ", where " + what +
                       " says it is");
    }
    if (!inside.empty()) {
      return corrupt("tensor \"" + std::string(*inside.begin()) + "\" in " + file +
                     " is not listed for it in " + what);
    }
  }
  return {};
}

Status Checkpoint::add_file(const fs::path& path) {
  NMC_ASSIGN(MappedFile file, MappedFile::open(path));
  NMC_ASSIGN(auto tensors, read_safetensors_header(file.bytes(), path.string()));
  for (SafetensorsTensor& t : tensors) {
    CheckpointTensor entry;
    static_cast<SafetensorsTensor&>(entry) = std::move(t);
    entry.data = file.bytes().data() + entry.offset;
    entry.file = files_.size();
    tensors_.push_back(std::move(entry));
  }
  files_.push_back(std::move(file));
  return {};
}

void Checkpoint::prefetch(const CheckpointTensor& t, uint64_t offset, uint64_t bytes) const {
  files_[t.file].advise_will_need(t.offset + offset, bytes);
}
void Checkpoint::release(const CheckpointTensor& t, uint64_t offset, uint64_t bytes) const {
  files_[t.file].advise_dont_need(t.offset + offset, bytes);
}

}  // namespace nmc
