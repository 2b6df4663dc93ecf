#include "runtime/format/model_file.h"

#include <algorithm>
#include <cassert>

#include "runtime/base/hash.h"

namespace nmc {

Result<ModelFile> ModelFile::open(const std::filesystem::path& path) {
  NMC_ASSIGN(MappedFile file, MappedFile::open(path));
  NMC_ASSIGN(Header header, decode_header(file.bytes(), path.string()));
  return ModelFile(std::move(file), std::move(header));
}

const TensorEntry* ModelFile::find(std::string_view name) const {
  const auto& tensors = header_.tensors;
  auto it =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

std::span<const uint8_t> ModelFile::bytes(const TensorEntry& tensor) const {
  return file_.bytes().subspan(tensor.offset, tensor.bytes());
}

const Bf16* ModelFile::matrix(const TensorEntry& tensor, uint64_t matrix) const {
  assert(matrix < tensor.count);
  return reinterpret_cast<const Bf16*>(bytes(tensor).data() + matrix * tensor.matrix_bytes());
}

Result<std::string> ModelFile::embedded(const std::string& name) const {
  auto it = header_.files.find(name);
  if (it == header_.files.end()) {
    return not_found(path().string() + " carries no " + name +
                     "; convert the checkpoint again with that file beside its config.json");
  }
  auto span = file_.bytes().subspan(it->second.offset, it->second.bytes);
  if (xxh3_64(span) != it->second.checksum) {
    return corrupt(path().string() + ": the checksum of the embedded " + name +
                   " does not match; the file is damaged");
  }
  return std::string(reinterpret_cast<const char*>(span.data()), span.size());
}

Result<std::string> ModelFile::embedded_or_empty(const std::string& name) const {
  return has_embedded(name) ? embedded(name) : std::string();
}

Status ModelFile::check(const TensorEntry& tensor) const {
  if (xxh3_64(bytes(tensor)) == tensor.checksum) return {};
  return corrupt(path().string() + ": the checksum of tensor \"" + tensor.name +
                 "\" does not match; the file is damaged, copy or convert it again");
}

}  // namespace nmc
