#include "convert/repack.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>

#include "runtime/base/hash.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/threads.h"

namespace nmc {
namespace {

// BF16 values whose exponent is all ones.
uint64_t count_non_finite(std::span<const uint8_t> bytes) {
  uint64_t count = 0;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2)
    count += (bytes[i] & 0x80) == 0x80 && (bytes[i + 1] & 0x7f) == 0x7f;
  return count;
}

// A tensor's checksum runs over its bytes in order, while its pieces are tiled and written in any:
// a worker with a tiled piece waits until the pieces before it are hashed. Pieces are taken in
// order, so the one that is waited for is always in some worker's hands.
class Repacker {
 public:
  Repacker(const WeightSource& source, size_t threads, const BytesDone& done, ModelWriter* writer)
      : source_(source),
        threads_(threads),
        done_(done),
        writer_(*writer),
        pieces_(cut_pieces(source.tensors(), piece_bytes(threads))),
        hashes_(source.tensors().size()),
        hashed_(source.tensors().size()),
        non_finite_(source.tensors().size()) {}

  Result<std::vector<uint64_t>> run() {
    ThreadPool pool(threads_);
    pool.parallel_for(pool.size(), [this](size_t) { work(); });
    if (!failure_.ok()) return failure_;
    return non_finite_;
  }

 private:
  void work() {
    std::vector<uint8_t> buffer;
    std::vector<Bf16> row;
    for (size_t i = next_.fetch_add(1); i < pieces_.size(); i = next_.fetch_add(1)) {
      if (i + threads_ < pieces_.size()) source_.prefetch(pieces_[i + threads_]);
      Status s = interrupted() ? cancelled("interrupted") : convert(pieces_[i], &buffer, &row);
      if (!s.ok()) return fail(std::move(s));
      done_(pieces_[i].bytes);
    }
  }

  Status convert(const Piece& piece, std::vector<uint8_t>* buffer, std::vector<Bf16>* row) {
    tile(piece, buffer, row);
    source_.release(piece);
    if (!hash_in_order(piece, *buffer)) return cancelled("another thread failed");
    return writer_.write(piece.tensor, piece.offset, *buffer);
  }

  void tile(const Piece& piece, std::vector<uint8_t>* buffer, std::vector<Bf16>* row) const {
    const TensorSpec& spec = source_.tensors()[piece.tensor];
    buffer->assign(piece.bytes, 0);  // padding is zero
    row->resize(spec.cols);
    auto* out = reinterpret_cast<Bf16*>(buffer->data());
    if (spec.layout == TensorLayout::kVector) {
      source_.read_row(piece.tensor, 0, 0, {out, spec.cols});
      return;
    }
    uint64_t group_values = spec.padded_cols() * kAtomRows;
    for (uint64_t i = 0; i < piece.rows; ++i) {
      source_.read_row(piece.tensor, piece.matrix, piece.first_row + i, *row);
      tile_row(*row, static_cast<int64_t>(i % kAtomRows), out + i / kAtomRows * group_values);
    }
  }

  // False when another worker failed and the turn never comes.
  bool hash_in_order(const Piece& piece, const std::vector<uint8_t>& bytes) {
    const uint64_t non_finite = count_non_finite(bytes);
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return !failure_.ok() || hashed_[piece.tensor] == piece.offset; });
    if (!failure_.ok()) return false;
    lock.unlock();  // the turn alone protects the tensor's hash
    Xxh3Stream& hash = hashes_[piece.tensor];
    hash.update(bytes.data(), bytes.size());
    bool last = piece.offset + piece.bytes == source_.tensors()[piece.tensor].bytes();
    if (last) writer_.set_checksum(piece.tensor, hash.digest());
    lock.lock();
    non_finite_[piece.tensor] += non_finite;
    hashed_[piece.tensor] += piece.bytes;
    turn_.notify_all();
    return true;
  }

  void fail(Status status) {
    std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
    next_ = pieces_.size();
    turn_.notify_all();
  }

  const WeightSource& source_;
  const size_t threads_;
  const BytesDone& done_;
  ModelWriter& writer_;
  const std::vector<Piece> pieces_;
  std::vector<Xxh3Stream> hashes_;  // by tensor; touched by the worker whose turn it is
  std::atomic<size_t> next_{0};

  std::mutex mutex_;
  std::condition_variable turn_;
  std::vector<uint64_t> hashed_;      // guarded by mutex_: bytes of each tensor in its hash
  std::vector<uint64_t> non_finite_;  // guarded by mutex_: by tensor
  Status failure_;                    // guarded by mutex_ while workers run: the first one
};

}  // namespace

uint64_t piece_bytes(size_t threads) {
  constexpr uint64_t kAllPieces = 256 << 20, kLargest = 4 << 20, kSmallest = 256 << 10;
  return std::clamp(kAllPieces / std::max<size_t>(threads, 1), kSmallest, kLargest);
}

Result<std::vector<uint64_t>> repack(const WeightSource& source, size_t threads,
                                     const BytesDone& done, ModelWriter* writer) {
  assert(writer->tensors().size() == source.tensors().size());
  return Repacker(source, threads, done, writer).run();
}

}  // namespace nmc
