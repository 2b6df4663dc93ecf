#include "tools/inspect/check.h"

#include <algorithm>

#include "runtime/base/hash.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/threads.h"
#include "runtime/format/preamble.h"

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

struct Range {
  uint64_t begin, end;
  std::string name;
};

// The parts of the file in the order of their places.
Result<std::vector<Range>> parts_of(const ModelFile& file, std::span<const uint8_t> bytes) {
  NMC_ASSIGN(const Preamble p, decode_preamble(bytes, file.path().string()));
  std::vector<Range> parts = {
      {0, kPreambleBytes, "the preamble"},
      {p.json_offset, p.json_offset + p.json_bytes, "the JSON header"},
      {p.directory_offset, p.directory_offset + p.tensor_count * kDirectoryEntryBytes,
       "the tensor directory"}};
  for (const auto& [name, f] : file.header().files)
    parts.push_back({f.offset, f.offset + f.bytes, "the embedded " + name});
  for (const TensorEntry& t : file.header().tensors)
    parts.push_back({t.offset, t.offset + t.bytes(), "tensor \"" + t.name + "\""});
  std::sort(parts.begin(), parts.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  parts.push_back({bytes.size(), bytes.size(), "the end"});
  return parts;
}

// The bytes that no checksum covers must be zero.
Status check_gaps(const ModelFile& file) {
  NMC_ASSIGN(const MappedFile whole, MappedFile::open(file.path()));
  NMC_ASSIGN(const auto parts, parts_of(file, whole.bytes()));
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    for (uint64_t at = parts[i].end; at < parts[i + 1].begin; ++at) {
      if (whole.bytes()[at] == 0) continue;
      return corrupt(file.path().string() + ": byte " + std::to_string(at) + " between " +
                     parts[i].name + " and " + parts[i + 1].name +
                     " is not zero; the file is damaged, copy or convert it again");
    }
  }
  return {};
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
  if (Status gaps = check_gaps(file); !gaps.ok()) damage.push_back(gaps.message());
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
