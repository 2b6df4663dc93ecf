// Proof that a model file holds a checkpoint, bit for bit.
#pragma once

#include "convert/checkpoint.h"
#include "convert/repack.h"
#include "runtime/format/model_file.h"

namespace nmc {

// Unpacks every tensor of `file` and compares: every value of the checkpoint is there exactly once
// and unchanged (where the file says that F16 or F32 was cast: as its rounding), and all padding is
// zero. Reads both whole, on `threads` threads, streaming. kCorrupt names the first difference by
// tensor, expert, row and column; kCancelled when the process is interrupted. `done` is told the
// bytes compared, from any thread.
Status verify(
    const ModelFile& file, const Checkpoint& checkpoint, size_t threads = 1,
    const BytesDone& done = [](uint64_t) {});

}  // namespace nmc
