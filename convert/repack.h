// Streams the weights of a source into a model file.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "convert/weight_source.h"
#include "runtime/format/model_writer.h"

namespace nmc {

// Called with the number of bytes just done; from any thread, several at a time.
using BytesDone = std::function<void(uint64_t)>;

// The bytes of a piece when `threads` threads each hold one and memory stays bounded.
uint64_t piece_bytes(size_t threads);

// Tiles, checksums and writes every tensor on `threads` threads. The file's bytes do not depend on
// their number. Memory: a few pieces per thread, whatever the model's size. Stops with kCancelled
// when the process is interrupted. `writer` was created for source.model(). Returns by tensor how
// many of its values are NaN or infinite.
Result<std::vector<uint64_t>> repack(const WeightSource& source, size_t threads,
                                     const BytesDone& done, ModelWriter* writer);

}  // namespace nmc
