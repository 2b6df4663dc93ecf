// The safetensors reader on any bytes: an answer, and when it is yes, every tensor lies inside the
// file and its bytes are its own.
//
// An input is read as a whole file; as the JSON of a header in front of as many bytes as its
// tensors claim; and as an index.
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "convert/json_members.h"
#include "convert/safetensors.h"
#include "runtime/base/bytes.h"

namespace {

// Returns whether the file was accepted.
bool read(std::span<const uint8_t> file) {
  auto tensors = nmc::read_safetensors_header(file, "input");
  if (!tensors.ok()) return false;
  std::set<std::string> names;
  uint64_t end = 0;
  for (const nmc::SafetensorsTensor& t : *tensors) {
    uint64_t bytes = nmc::dtype_bytes(t.dtype);
    for (uint64_t s : t.shape) bytes *= s;
    bool inside = t.offset <= file.size() && t.bytes <= file.size() - t.offset;
    if (!inside || bytes != t.bytes || t.offset < end || !names.insert(t.name).second) std::abort();
    end = t.offset + t.bytes;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read({data, size});

  // The reader never touches the data, so its size may be guessed: any number that stands in the
  // text can be the end of the last tensor.
  std::vector<uint8_t> file(8 + size + 4096);
  nmc::store_le<uint64_t>(file.data(), size);
  if (size > 0) std::memcpy(file.data() + 8, data, size);
  std::set<uint64_t> ends{0};
  for (size_t i = 0, number = 0; i < size && ends.size() < 8; ++i) {
    bool digit = data[i] >= '0' && data[i] <= '9';
    number = digit ? std::min<size_t>(number * 10 + (data[i] - '0'), 4097) : 0;
    if (digit && number <= 4096) ends.insert(number);
  }
  for (uint64_t end : ends) read(std::span(file).first(8 + size + end));

  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)nmc::for_each_member(text, "weight_map", "index",
                             [](const std::string&, const nmc::Json&) { return nmc::Status(); });
  return 0;
}
