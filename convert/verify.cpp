#include "convert/verify.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "convert/checkpoint_source.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/text.h"
#include "runtime/base/threads.h"
#include "runtime/format/checkpoint_names.h"

namespace nmc {
namespace {

bool was_cast(const ModelFile& file) {
  const Json& provenance = file.header().provenance;
  auto it = provenance.is_object() ? provenance.find("cast_to_bf16") : provenance.end();
  return it != provenance.end() && it->is_array() && !it->empty();
}

// That the stored rows are the checkpoint's rows in another order: none twice, none left out.
Status check_rows_once(const TensorSpec& spec, const ModelDescription& model) {
  std::vector<std::vector<bool>> seen;
  uint64_t total = 0;
  for (int part = 0; part < part_count(spec); ++part) {
    seen.emplace_back(part_places(spec, model, 0, part).front().rows);
    total += seen.back().size();
  }
  for (uint64_t row = 0; row < spec.rows; ++row) {
    RowSource from = row_source(spec, model, static_cast<int64_t>(row));
    auto& rows = seen[static_cast<size_t>(from.part)];
    auto at = static_cast<size_t>(from.row);
    if (at >= rows.size() || rows[at])
      return internal_error("tensor \"" + spec.name + "\": row " + std::to_string(row) +
                            " repeats a row of the checkpoint");
    rows[at] = true;
  }
  if (total != spec.rows)
    return internal_error("tensor \"" + spec.name + "\" leaves out rows of the checkpoint");
  return {};
}

class Verifier {
 public:
  Verifier(const ModelFile& file, const WeightSource& source, size_t threads, const BytesDone& done)
      : file_(file),
        source_(source),
        threads_(threads),
        done_(done),
        pieces_(cut_pieces(source.tensors(), piece_bytes(threads))) {}

  Status run() {
    for (const TensorSpec& spec : source_.tensors())
      NMC_TRY(check_rows_once(spec, source_.model()));
    ThreadPool pool(threads_);
    pool.parallel_for(pool.size(), [this](size_t) { work(); });
    return failure_;
  }

 private:
  // Pieces are taken in order and the failure of the earliest is kept, so the difference that is
  // reported is the first of the file.
  void work() {
    std::vector<Bf16> expected, found;
    for (size_t i = next_.fetch_add(1); i < pieces_.size(); i = next_.fetch_add(1)) {
      if (i + threads_ < pieces_.size()) source_.prefetch(pieces_[i + threads_]);
      Status s = interrupted() ? cancelled("interrupted") : compare(pieces_[i], &expected, &found);
      source_.release(pieces_[i]);
      if (s.ok()) {
        done_(pieces_[i].bytes);
        continue;
      }
      next_ = pieces_.size();
      std::lock_guard lock(mutex_);
      if (i < failed_piece_) {
        failed_piece_ = i;
        failure_ = std::move(s);
      }
      return;
    }
  }

  Status compare(const Piece& piece, std::vector<Bf16>* expected, std::vector<Bf16>* found) const {
    const TensorSpec& spec = source_.tensors()[piece.tensor];
    const TensorEntry& entry = file_.header().tensors[piece.tensor];
    const auto* stored =
        reinterpret_cast<const Bf16*>(file_.bytes(entry).data()) + piece.offset / sizeof(Bf16);
    bool vector = spec.layout == TensorLayout::kVector;
    found->resize(spec.padded_cols());
    uint64_t rows = vector ? 1 : align_up(piece.rows, kAtomRows);
    for (uint64_t i = 0; i < rows; ++i) {
      expected->assign(spec.padded_cols(), 0);
      if (i < piece.rows) {
        source_.read_row(piece.tensor, piece.matrix, piece.first_row + i,
                         std::span(*expected).first(spec.cols));
      }
      if (vector)
        std::copy_n(stored, spec.cols, found->begin());
      else
        untile_row(stored + i / kAtomRows * kAtomRows * spec.padded_cols(),
                   static_cast<int64_t>(i % kAtomRows), *found);
      auto [e, f] = std::mismatch(expected->begin(), expected->end(), found->begin());
      if (e != expected->end())
        return difference(spec, piece, piece.first_row + i,
                          static_cast<uint64_t>(e - expected->begin()), *e, *f);
    }
    return {};
  }

  Status difference(const TensorSpec& spec, const Piece& piece, uint64_t row, uint64_t col,
                    Bf16 expected, Bf16 found) const {
    const std::string values =
        format("holds 0x%04x instead of 0x%04x", unsigned{found}, unsigned{expected});
    std::string where = "tensor \"" + spec.name + "\"";
    if (spec.count > 1) where += ", expert " + std::to_string(piece.matrix);
    where += ", row " + std::to_string(row) + ", column " + std::to_string(col);
    if (row >= spec.rows || col >= spec.cols)
      return corrupt(file_.path().string() + ": " + where + " (padding) " + values);
    RowSource from = row_source(spec, source_.model(), static_cast<int64_t>(row));
    std::string name = part_places(spec, source_.model(), piece.matrix, from.part).front().name;
    return corrupt(file_.path().string() + ": " + where + " (" + name + ", row " +
                   std::to_string(from.row) + ") " + values);
  }

  const ModelFile& file_;
  const WeightSource& source_;
  const size_t threads_;
  const BytesDone& done_;
  const std::vector<Piece> pieces_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  size_t failed_piece_ = SIZE_MAX;  // guarded by mutex_
  Status failure_;                  // guarded by mutex_ while workers run
};

}  // namespace

Status verify(const ModelFile& file, const Checkpoint& checkpoint, size_t threads,
              const BytesDone& done) {
  NMC_ASSIGN(Mapping mapping, map_checkpoint(checkpoint, was_cast(file)));
  if (!(mapping.model == file.model())) {
    return corrupt(file.path().string() + " describes another model than the config.json of " +
                   checkpoint.folder().string());
  }
  CheckpointSource source(checkpoint, std::move(mapping));
  return Verifier(file, source, threads, done).run();
}

}  // namespace nmc
