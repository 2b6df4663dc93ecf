// A Hugging Face checkpoint folder: its safetensors files mapped as one set of tensors, and the
// model that its config.json describes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert/safetensors.h"
#include "runtime/base/file.h"
#include "runtime/model/description.h"

namespace nmc {

// A tensor in one of the checkpoint's files. `data` points into the mapping.
struct CheckpointTensor : SafetensorsTensor {
  const uint8_t* data = nullptr;
  size_t file = 0;  // index of the file that holds it
};

// Owns the mappings; movable; immutable after `open`, so any number of threads may read.
class Checkpoint {
 public:
  // Weights: model.safetensors; else the shards that model.safetensors.index.json lists; else
  // every *.safetensors. Reads headers only. Errors name the file or tensor that is missing or
  // wrong.
  static Result<Checkpoint> open(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  // From config.json, with the eos ids of generation_config.json added when there is one.
  const ModelDescription& model() const { return model_; }
  const std::vector<CheckpointTensor>& tensors() const { return tensors_; }
  const std::vector<MappedFile>& files() const { return files_; }

  // Hints for bytes [offset, offset + bytes) of a tensor: will be read soon; are no longer needed,
  // so that memory stays small. The content is the same afterwards.
  void prefetch(const CheckpointTensor& tensor, uint64_t offset, uint64_t bytes) const;
  void release(const CheckpointTensor& tensor, uint64_t offset, uint64_t bytes) const;

 private:
  Status add_file(const std::filesystem::path& path);
  Status open_shards(const std::filesystem::path& index);
  Status open_weights();

  std::filesystem::path folder_;
  ModelDescription model_;
  std::vector<MappedFile> files_;
  std::vector<CheckpointTensor> tensors_;
};

inline constexpr uint64_t kMaxConfigBytes = 16 << 20;

// The model that a folder's config.json and generation_config.json (if any) describe.
Result<ModelDescription> read_model_description(const std::filesystem::path& config,
                                                const std::filesystem::path& generation_config);

}  // namespace nmc
