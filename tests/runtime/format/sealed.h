// Damage that passes the checksums: the head of a file signed again after a change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"

namespace nmc {

// Recomputes the checksums of the JSON header, of the directory and of the preamble, wherever the
// preamble's numbers allow it. Offsets as in docs/format.md.
inline void seal_head(std::span<uint8_t> file) {
  if (file.size() < 4096) return;
  auto field = [&](size_t at) { return load_le<uint64_t>(file.data() + at); };
  auto sign = [&](uint64_t offset, uint64_t bytes, size_t checksum_at) {
    if (offset > file.size() || bytes > file.size() - offset) return;
    store_le(file.data() + checksum_at, xxh3_64(file.data() + offset, bytes));
  };
  sign(field(24), field(32), 40);
  sign(field(48), std::min(field(56), uint64_t{1} << 40) * 256, 64);
  store_le(file.data() + 112, xxh3_64(file.data(), 112));
}

}  // namespace nmc
