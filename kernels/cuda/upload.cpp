#include "kernels/cuda/upload.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "kernels/cuda/memory.h"
#include "runtime/base/threads.h"

namespace nmc::cuda {
namespace {

constexpr size_t kPiece = 2 << 20;  // all buffers together stay in the processor's cache
constexpr size_t kThreads = 16;
constexpr int kBuffers = 2;  // of each thread: one is filled while the other one is copied

// Has the system map a whole piece of a file at once, where it can: page by page, faults take
// longer than the copy. Memory that is no mapping of a file stays as it is.
void map_ahead(std::span<const uint8_t> piece) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(piece.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(piece.data() + piece.size());
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
}

class Uploader {
 public:
  Uploader(std::span<const uint8_t> source, void* target, int device, Progress* progress)
      : source_(source),
        target_(static_cast<uint8_t*>(target)),
        device_(device),
        progress_(progress) {}

  Status run() {
    const size_t pieces = (source_.size() + kPiece - 1) / kPiece;
    ThreadPool pool(std::clamp<size_t>(std::min(usable_cores(), pieces), 1, kThreads));
    pool.parallel_for(pool.size(), [this](size_t) {
      if (Status s = work(); !s.ok()) {
        std::lock_guard lock(mutex_);
        if (failure_.ok()) failure_ = std::move(s);
        next_ = source_.size();
      }
    });
    return failure_;
  }

 private:
  struct Stream {
    cudaStream_t stream = nullptr;
    cudaEvent_t copied[kBuffers] = {};
    ~Stream() {
      for (cudaEvent_t event : copied) {
        if (event != nullptr) (void)cudaEventDestroy(event);
      }
      if (stream != nullptr) (void)cudaStreamDestroy(stream);
    }
  };

  Status work() {
    NMC_TRY(check(cudaSetDevice(device_), "choosing the device"));
    PinnedMemory buffers[kBuffers];
    Stream s;
    NMC_TRY(check(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking), "making a stream"));
    for (int i = 0; i < kBuffers; ++i) {
      NMC_ASSIGN(buffers[i], allocate_pinned(kPiece, "loading weights"));
      NMC_TRY(
          check(cudaEventCreateWithFlags(&s.copied[i], cudaEventDisableTiming), "making an event"));
    }
    Status status = copy_pieces(s, buffers);
    Status done = check(cudaStreamSynchronize(s.stream), "copying the weights");
    return status.ok() ? done : status;
  }

  Status copy_pieces(const Stream& s, const PinnedMemory* buffers) {
    int buffer = 0;
    for (size_t at = next_.fetch_add(kPiece); at < source_.size(); at = next_.fetch_add(kPiece)) {
      const size_t bytes = std::min(kPiece, source_.size() - at);
      NMC_TRY(check(cudaEventSynchronize(s.copied[buffer]), "copying the weights"));
      map_ahead(source_.subspan(at, bytes));
      std::memcpy(buffers[buffer].as<uint8_t>(), source_.data() + at, bytes);
      NMC_TRY(check(cudaMemcpyAsync(target_ + at, buffers[buffer].as<uint8_t>(), bytes,
                                    cudaMemcpyHostToDevice, s.stream),
                    "copying the weights"));
      NMC_TRY(check(cudaEventRecord(s.copied[buffer], s.stream), "copying the weights"));
      buffer = (buffer + 1) % kBuffers;
      progress_->add(bytes);
    }
    return {};
  }

  std::span<const uint8_t> source_;
  uint8_t* target_;
  int device_;
  Progress* progress_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  Status failure_;  // guarded by mutex_: the first one
};

}  // namespace

Status upload(std::span<const uint8_t> source, void* target, Progress* progress) {
  int device = 0;
  NMC_TRY(check(cudaGetDevice(&device), "asking for the device"));
  return Uploader(source, target, device, progress).run();
}

}  // namespace nmc::cuda
