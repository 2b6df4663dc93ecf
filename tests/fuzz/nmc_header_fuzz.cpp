// decode_header on any bytes: an answer, and when it is yes, everything lies inside the file.
//
// An input is a file head of any length. It is read as it is, and once more after the length and
// the checksums were made right, so that the deeper checks are reached.
#include <cstdlib>
#include <vector>

#include "runtime/format/header.h"
#include "runtime/format/preamble.h"
#include "tests/runtime/format/sealed.h"

namespace {

constexpr size_t kMaxFile = 16 << 20;

void decode(std::span<const uint8_t> file) {
  auto header = nmc::decode_header(file, "input");
  if (!header.ok()) return;
  for (const nmc::TensorEntry& t : header->tensors)
    if (t.offset > file.size() || t.bytes() > file.size() - t.offset) std::abort();
  for (const auto& [name, f] : header->files)
    if (f.offset > file.size() || f.bytes > file.size() - f.offset) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  decode({data, size});
  if (size < nmc::kPreambleBytes) return 0;
  // One buffer for all inputs, zero behind the head; only what an input wrote is cleared after it.
  static std::vector<uint8_t> file(kMaxFile);
  uint64_t length = std::min<uint64_t>(nmc::load_le<uint64_t>(data + 16), kMaxFile);
  length = std::max<uint64_t>(length, size);
  if (length > kMaxFile) return 0;
  std::copy_n(data, size, file.begin());
  nmc::store_le(file.data() + 16, length);
  nmc::seal_head({file.data(), length});
  decode({file.data(), length});
  std::fill_n(file.begin(), size, uint8_t{0});
  return 0;
}
