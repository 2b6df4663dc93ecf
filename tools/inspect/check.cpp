#include "tools/inspect/check.h"

#include <algorithm>

#include "runtime/base/hash.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/threads.h"

namespace nmc {
namespace {

constexpr size_t kPieceBytes = 8 << 20;  // progress and interrupts come between pieces

bool matches(const ModelFile& file, const TensorEntry& tensor,
             const std::function<void(uint64_t)>& done) {
  Xxh3Stream hash;
  for (auto rest = file.bytes(tensor); !rest.empty() && !interrupted();) {
    auto piece = rest.first(std::min(rest.size(), kPieceBytes));
    hash.update(piece.data(), piece.size());
    done(piece.size());
    rest = rest.subspan(piece.size());
  }
  return hash.digest() == tensor.checksum;
}

}  // namespace

uint64_t checked_bytes(const ModelFile& file) {
  uint64_t bytes = 0;
  for (const TensorEntry& t : file.header().tensors) bytes += t.bytes();
  return bytes;
}

std::vector<std::string> check_file(const ModelFile& file, size_t threads,
                                    const std::function<void(uint64_t)>& done) {
  std::vector<std::string> damage;
  for (const auto& [name, embedded] : file.header().files) {
    auto content = file.embedded(name);
    if (!content.ok()) damage.push_back(content.status().message());
  }
  const auto& tensors = file.header().tensors;
  std::vector<char> whole(tensors.size(), 0);  // not bool: threads write neighbours
  ThreadPool pool(threads);
  pool.parallel_for(tensors.size(), [&](size_t i) {
    if (!interrupted()) whole[i] = matches(file, tensors[i], done);
  });
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (whole[i]) continue;
    damage.push_back(file.path().string() + ": the checksum of tensor \"" + tensors[i].name +
                     "\" does not match; the file is damaged, copy or convert it again");
  }
  return damage;
}

}  // namespace nmc
