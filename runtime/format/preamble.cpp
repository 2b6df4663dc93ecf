#include "runtime/format/preamble.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/format/header.h"

namespace nmc {
namespace {

constexpr uint64_t kChecksumAt = 112;  // the preamble's checksum covers the bytes before it
constexpr uint64_t kReservedAt = 120;  // zero from here on

// The fields at bytes 16 to 96, in order.
constexpr uint64_t Preamble::*kFields[] = {
    &Preamble::file_bytes,         &Preamble::json_offset,      &Preamble::json_bytes,
    &Preamble::json_checksum,      &Preamble::directory_offset, &Preamble::tensor_count,
    &Preamble::directory_checksum, &Preamble::files_offset,     &Preamble::files_bytes,
    &Preamble::data_offset,
};

bool all_zero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

// Each region begins at the first aligned byte behind the one before it: none can overlap, and no
// byte of the head is left unchecked.
Status check_regions(const Preamble& p, std::span<const uint8_t> bytes, const std::string& what) {
  uint64_t size = bytes.size();
  if (p.file_bytes != size) {
    return corrupt(what + " should have " + std::to_string(p.file_bytes) + " bytes but has " +
                   std::to_string(size) + ": it was cut or extended; convert or copy it again");
  }
  auto bad = [&](const char* region) {
    return corrupt(what + ": the " + region + " lies outside the file or not where it must");
  };
  if (p.json_offset != kPreambleBytes || p.json_bytes > kMaxJsonBytes ||
      p.json_bytes > size - kPreambleBytes) {
    return bad("JSON header");
  }
  uint64_t json_end = p.json_offset + p.json_bytes;
  if (p.tensor_count == 0 || p.tensor_count > kMaxTensors ||
      p.directory_offset != align_up(json_end, kHeadAlignment) || p.directory_offset > size ||
      p.tensor_count * kDirectoryEntryBytes > size - p.directory_offset) {
    return bad("tensor directory");
  }
  if (p.files_offset != p.directory_offset + p.tensor_count * kDirectoryEntryBytes ||
      p.files_bytes > size - p.files_offset) {
    return bad("region of embedded files");
  }
  if (p.data_offset != align_up(p.files_offset + p.files_bytes, kSectionAlignment) ||
      p.data_offset > size) {
    return bad("data");
  }
  if (!all_zero(bytes.subspan(kReservedAt, kPreambleBytes - kReservedAt)) ||
      !all_zero(bytes.subspan(json_end, p.directory_offset - json_end))) {
    return corrupt(what + ": bytes that must be zero are not; the file is damaged");
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
  NMC_TRY(check_regions(p, bytes, what));
  return p;
}

}  // namespace nmc
