#include "convert/safetensors.h"

#include <algorithm>

#include "convert/json_members.h"
#include "runtime/base/bytes.h"

namespace nmc {
namespace {

constexpr size_t kMaxRank = 8;

// A list of exactly the numbers that a shape or an offset pair may hold.
std::optional<std::vector<uint64_t>> read_numbers(const Json& entry, const char* key) {
  auto it = entry.find(key);
  if (it == entry.end() || !it->is_array() || it->size() > kMaxRank) return std::nullopt;
  std::vector<uint64_t> numbers;
  for (const Json& n : *it) {
    if (!n.is_number_unsigned()) return std::nullopt;
    numbers.push_back(n.get<uint64_t>());
  }
  return numbers;
}

// One header entry; offsets are checked against `data_bytes`, the bytes behind the header.
Result<SafetensorsTensor> read_entry(const std::string& name, const Json& entry,
                                     uint64_t data_bytes, const std::string& what) {
  std::string whose = what + ": tensor \"" + name + "\"";
  if (!entry.is_object()) return corrupt(whose + " is not described by an object");
  SafetensorsTensor t;
  t.name = name;
  NMC_ASSIGN(std::string type, json_string(entry, "dtype", whose));
  std::optional<Dtype> dtype = dtype_from_name(type);
  if (!dtype) return unsupported(whose + " has the unknown dtype \"" + type + "\"");
  t.dtype = *dtype;

  auto shape = read_numbers(entry, "shape");
  auto offsets = read_numbers(entry, "data_offsets");
  if (!shape) return corrupt(whose + " needs a \"shape\" of at most 8 sizes");
  if (!offsets || offsets->size() != 2)
    return corrupt(whose + " needs \"data_offsets\": [begin, end]");
  t.shape = std::move(*shape);
  uint64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (begin > end || end > data_bytes) {
    return corrupt(whose + " claims bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                   " of " + std::to_string(data_bytes) +
                   "; the file is truncated or its header lies");
  }
  std::optional<uint64_t> bytes = dtype_bytes(t.dtype);
  for (uint64_t size : t.shape) bytes = bytes ? checked_mul(*bytes, size) : bytes;
  if (!bytes || *bytes != end - begin) {
    return corrupt(whose + " of " + type + " " + shape_text(t.shape) + " cannot fill the " +
                   std::to_string(end - begin) + " bytes its offsets span");
  }
  t.offset = begin;
  t.bytes = end - begin;
  return t;
}

// Sorted tensors must cover the data exactly: an overlap is a lie, a gap hides bytes.
Status check_cover(const std::vector<SafetensorsTensor>& sorted, uint64_t data_bytes,
                   const std::string& what) {
  uint64_t at = 0;
  for (const SafetensorsTensor& t : sorted) {
    if (t.offset < at)
      return corrupt(what + ": tensor \"" + t.name + "\" overlaps the tensor before it");
    if (t.offset > at) {
      return corrupt(what + ": bytes " + std::to_string(at) + " to " + std::to_string(t.offset) +
                     " before tensor \"" + t.name + "\" belong to no tensor");
    }
    at += t.bytes;
  }
  if (at != data_bytes) {
    return corrupt(what + ": the last " + std::to_string(data_bytes - at) +
                   " bytes belong to no tensor");
  }
  return {};
}

}  // namespace

Result<std::vector<SafetensorsTensor>> read_safetensors_header(std::span<const uint8_t> file,
                                                               const std::string& what) {
  if (file.size() < 8) return corrupt(what + " is too short to be a safetensors file");
  uint64_t header_bytes = load_le<uint64_t>(file.data());
  if (header_bytes > kMaxSafetensorsHeader) {
    return corrupt(what + " claims a header of " + std::to_string(header_bytes) +
                   " bytes; safetensors headers have at most " +
                   std::to_string(kMaxSafetensorsHeader));
  }
  if (header_bytes > file.size() - 8) {
    return corrupt(what + " ends inside its header (" + std::to_string(file.size()) +
                   " bytes); copy or download it again");
  }
  std::string_view text(reinterpret_cast<const char*>(file.data() + 8), header_bytes);
  uint64_t data_offset = 8 + header_bytes, data_bytes = file.size() - data_offset;
  std::vector<SafetensorsTensor> tensors;
  NMC_TRY(for_each_member(
      text, "", "the header of " + what, [&](const std::string& name, const Json& entry) -> Status {
        NMC_ASSIGN(SafetensorsTensor t, read_entry(name, entry, data_bytes, what));
        tensors.push_back(std::move(t));
        return {};
      }));
  // By end as well, so that an empty tensor stands before the one that starts where it does.
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  NMC_TRY(check_cover(tensors, data_bytes, what));
  for (SafetensorsTensor& t : tensors) t.offset += data_offset;
  return tensors;
}

std::string shape_text(std::span<const uint64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace nmc
