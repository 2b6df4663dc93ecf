#include "runtime/format/preamble.h"

#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/format/header.h"

namespace nmc {
namespace {

constexpr uint64_t kChecksumAt = 112;  // the preamble's checksum covers the bytes before it

// The fields at bytes 16 to 96, in order.
constexpr uint64_t Preamble::*kFields[] = {
    &Preamble::file_bytes,         &Preamble::json_offset,      &Preamble::json_bytes,
    &Preamble::json_checksum,      &Preamble::directory_offset, &Preamble::tensor_count,
    &Preamble::directory_checksum, &Preamble::files_offset,     &Preamble::files_bytes,
    &Preamble::data_offset,
};

Status check_regions(const Preamble& p, uint64_t size, const std::string& what) {
  if (p.file_bytes != size) {
    return corrupt(what + " should have " + std::to_string(p.file_bytes) + " bytes but has " +
                   std::to_string(size) + ": it was cut or extended; convert or copy it again");
  }
  auto bad = [&](const char* region) {
    return corrupt(what + ": the " + region + " lies outside the file or overlaps its neighbour");
  };
  if (p.json_offset != kPreambleBytes || p.json_bytes > kMaxJsonBytes ||
      p.json_bytes > size - kPreambleBytes) {
    return bad("JSON header");
  }
  uint64_t json_end = p.json_offset + p.json_bytes;
  if (p.tensor_count == 0 || p.tensor_count > kMaxTensors || p.directory_offset < json_end ||
      p.directory_offset > size ||
      p.tensor_count * kDirectoryEntryBytes > size - p.directory_offset) {
    return bad("tensor directory");
  }
  uint64_t directory_end = p.directory_offset + p.tensor_count * kDirectoryEntryBytes;
  if (p.files_offset < directory_end || p.files_offset > size ||
      p.files_bytes > size - p.files_offset) {
    return bad("embedded files");
  }
  if (p.data_offset < p.files_offset + p.files_bytes || p.data_offset > size ||
      p.data_offset % kSectionAlignment != 0) {
    return bad("data");
  }
  return {};
}

}  // namespace

void encode_preamble(const Preamble& preamble, uint8_t* out) {
  std::memset(out, 0, kPreambleBytes);
  std::memcpy(out, kMagic, sizeof kMagic);
  store_le<uint32_t>(out + 8, kFormatVersion);
  for (size_t i = 0; i < std::size(kFields); ++i) store_le(out + 16 + 8 * i, preamble.*kFields[i]);
  store_le(out + kChecksumAt, xxh3_64(out, kChecksumAt));
}

Result<Preamble> decode_preamble(std::span<const uint8_t> bytes, const std::string& what) {
  if (bytes.size() < kPreambleBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return invalid_argument(
        what + " is not a .nmc model file; make one with convert/convert CHECKPOINT_DIR");
  }
  auto version = load_le<uint32_t>(bytes.data() + 8);
  if (version != kFormatVersion) {
    return unsupported(what + " has format version " + std::to_string(version) +
                       "; this build reads version " + std::to_string(kFormatVersion) +
                       ". Convert the checkpoint again");
  }
  if (load_le<uint64_t>(bytes.data() + kChecksumAt) != xxh3_64(bytes.data(), kChecksumAt)) {
    return corrupt(what + ": the preamble's checksum does not match; the file is damaged");
  }
  Preamble p;
  for (size_t i = 0; i < std::size(kFields); ++i)
    p.*kFields[i] = load_le<uint64_t>(bytes.data() + 16 + 8 * i);
  NMC_TRY(check_regions(p, bytes.size(), what));
  return p;
}

}  // namespace nmc
