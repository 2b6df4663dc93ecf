// Reading a whole model file against its checksums.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/format/model_file.h"

namespace nmc {

// Bytes that `check_file` reads: all tensors.
uint64_t checked_bytes(const ModelFile& file);

// Compares the checksum of every embedded file and, on `threads` threads, of every tensor, and sees
// that all bytes between them are zero. Returns one sentence per damaged part, in file order;
// empty: the file is whole. `done` is told the bytes read, from any thread. After an interrupt it
// returns early, and what it returns means nothing.
std::vector<std::string> check_file(const ModelFile& file, size_t threads,
                                    const std::function<void(uint64_t)>& done);

}  // namespace nmc
