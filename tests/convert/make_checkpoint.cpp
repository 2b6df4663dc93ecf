// make_checkpoint CONFIG.json OUT_DIR: a checkpoint with synthetic weights, one shard per layer,
// for trying the converter, or another implementation, at any size.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "convert/checkpoint.h"
#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/format/checkpoint_names.h"
#include "runtime/format/synthetic_rule.h"

namespace nmc {
namespace {

namespace fs = std::filesystem;

// Appends to a file through one buffer.
class Out {
 public:
  explicit Out(AtomicFile file) : file_(std::move(file)) {}
  Status append(const void* data, size_t bytes) {
    buffer_.insert(buffer_.end(), static_cast<const uint8_t*>(data),
                   static_cast<const uint8_t*>(data) + bytes);
    return buffer_.size() < (4 << 20) ? Status() : flush();
  }
  Status close() {
    NMC_TRY(flush());
    return file_.commit();
  }

 private:
  Status flush() {
    NMC_TRY(file_.write_at(at_, buffer_));
    at_ += buffer_.size();
    buffer_.clear();
    return {};
  }
  AtomicFile file_;
  std::vector<uint8_t> buffer_;
  uint64_t at_ = 0;
};

Status write_shard(const fs::path& path, const SyntheticRule& rule,
                   const std::vector<PartPlace>& parts) {
  Json header = Json::object();
  uint64_t at = 0;
  for (const PartPlace& p : parts) {
    uint64_t bytes = p.rows * p.shape.back() * sizeof(Bf16);
    header[p.name] = {{"dtype", "BF16"}, {"shape", p.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string json = header.dump();
  json.resize(align_up(json.size(), 8), ' ');
  uint64_t length = json.size();

  NMC_ASSIGN(AtomicFile file, AtomicFile::create(path));
  Out out(std::move(file));
  NMC_TRY(out.append(&length, sizeof length));
  NMC_TRY(out.append(json.data(), json.size()));
  for (const PartPlace& p : parts) {
    std::vector<Bf16> row(p.shape.back());
    SyntheticTensor tensor = rule.tensor(p.name, row.size());
    for (uint64_t r = 0; r < p.rows; ++r) {
      rule.fill_row(tensor, r, row);
      NMC_TRY(out.append(row.data(), row.size() * sizeof(Bf16)));
    }
  }
  return out.close();
}

Status run(const fs::path& config, const fs::path& folder) {
  NMC_ASSIGN(ModelDescription model, read_model_description(config, {}));
  fs::create_directories(folder);
  fs::copy_file(config, folder / "config.json", fs::copy_options::overwrite_existing);
  std::map<uint32_t, std::vector<PartPlace>> shards;  // by section
  for (const TensorSpec& spec : expected_tensors(model)) {
    for (uint64_t m = 0; m < spec.count; ++m)
      for (int p = 0; p < part_count(spec); ++p)
        shards[spec.section].push_back(part_places(spec, model, m, p).front());
  }
  SyntheticRule rule(model);
  std::map<std::string, std::string> weight_map;
  for (const auto& [section, parts] : shards) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05u-of-%05zu.safetensors", section + 1, shards.size());
    NMC_TRY(write_shard(folder / name, rule, parts));
    for (const PartPlace& p : parts) weight_map[p.name] = name;
  }
  return write_file(folder / "model.safetensors.index.json",
                    Json{{"weight_map", weight_map}}.dump());
}

}  // namespace
}  // namespace nmc

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_checkpoint CONFIG.json OUT_DIR\n");
    return 2;
  }
  nmc::Status s = nmc::run(argv[1], argv[2]);
  if (!s.ok()) std::fprintf(stderr, "make_checkpoint: %s\n", s.message().c_str());
  return s.ok() ? 0 : 1;
}
