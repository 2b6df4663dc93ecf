#include "runtime/format/fingerprint.h"

#include "runtime/base/hash.h"
#include "runtime/base/text.h"
#include "runtime/model/config.h"

namespace nmc {

std::string fingerprint(const Header& header) {
  std::string all = description_to_json(header.model).dump();
  auto add = [&](const std::string& name, uint64_t checksum) {
    all += "\n" + name + " " + std::to_string(checksum);
  };
  for (const TensorEntry& t : header.tensors) add(t.name, t.checksum);
  for (const auto& [name, file] : header.files) add(name, file.checksum);
  return format("%016llx", static_cast<unsigned long long>(xxh3_64(all.data(), all.size())));
}

}  // namespace nmc
