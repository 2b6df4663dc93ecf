#include <cassert>
#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/format/header.h"
#include "runtime/format/preamble.h"
#include "runtime/model/config.h"

namespace nmc {
namespace {

Json header_json(const ModelDescription& model, const Json& provenance,
                 const std::map<std::string, EmbeddedFile>& files) {
  Json json;
  json["format"] = "nmc";
  json["version"] = kFormatVersion;
  json["model"] = description_to_json(model);
  json["provenance"] = provenance;
  Json& list = json["files"] = Json::object();
  for (const auto& [name, file] : files) {
    // Offsets count from the start of the files region, so that the JSON does not depend on its
    // own length.
    list[name] = Json{{"offset", file.offset}, {"bytes", file.bytes}, {"xxh3", file.checksum}};
  }
  return json;
}

void encode_entry(const TensorEntry& t, uint8_t* p) {
  assert(t.name.size() < kTensorNameBytes);
  std::memcpy(p, t.name.data(), t.name.size());
  store_le<uint32_t>(p + 128, kDtypeBf16);
  store_le<uint32_t>(p + 132, static_cast<uint32_t>(t.layout));
  store_le<uint32_t>(p + 136, static_cast<uint32_t>(t.order));
  store_le<uint32_t>(p + 140, t.row_block);
  store_le<uint32_t>(p + 144, t.section);
  store_le<uint64_t>(p + 152, t.count);
  store_le<uint64_t>(p + 160, t.rows);
  store_le<uint64_t>(p + 168, t.cols);
  store_le<uint64_t>(p + 176, t.padded_rows());
  store_le<uint64_t>(p + 184, t.padded_cols());
  store_le<uint64_t>(p + 192, t.offset);
  store_le<uint64_t>(p + 200, t.bytes());
  store_le<uint64_t>(p + 208, t.checksum);
}

// Gives every tensor its offset: sections on 2 MiB, tensors on 4 KiB. Returns the file's end.
uint64_t place_tensors(uint64_t start, std::vector<TensorEntry>* tensors) {
  uint64_t at = start;
  int64_t section = -1;
  for (TensorEntry& t : *tensors) {
    at = align_up(at, t.section != section ? kSectionAlignment : kTensorAlignment);
    section = t.section;
    t.offset = at;
    at += t.bytes();
  }
  return align_up(at, kTensorAlignment);
}

}  // namespace

EncodedHeader encode_header(const ModelDescription& model, const Json& provenance,
                            const std::map<std::string, std::string>& files,
                            const std::vector<uint64_t>& tensor_checksums) {
  EncodedHeader out;
  out.header.model = model;
  out.header.provenance = provenance;
  uint64_t files_bytes = 0;
  for (const auto& [name, content] : files) {
    EmbeddedFile file{files_bytes, content.size(), xxh3_64(content.data(), content.size())};
    out.header.files[name] = file;
    files_bytes = align_up(files_bytes + content.size(), kHeadAlignment);
  }
  for (TensorSpec& spec : expected_tensors(model)) {
    TensorEntry entry;
    static_cast<TensorSpec&>(entry) = std::move(spec);
    size_t i = out.header.tensors.size();
    if (i < tensor_checksums.size()) entry.checksum = tensor_checksums[i];
    out.header.tensors.push_back(std::move(entry));
  }

  std::string json = dump_json(header_json(model, provenance, out.header.files));
  Preamble p;
  p.json_offset = kPreambleBytes;
  p.json_bytes = json.size();
  p.directory_offset = align_up(p.json_offset + p.json_bytes, kHeadAlignment);
  p.tensor_count = out.header.tensors.size();
  p.files_offset = p.directory_offset + p.tensor_count * kDirectoryEntryBytes;
  p.files_bytes = files_bytes;
  p.data_offset = align_up(p.files_offset + files_bytes, kSectionAlignment);
  p.file_bytes = place_tensors(p.data_offset, &out.header.tensors);
  out.header.file_bytes = p.file_bytes;

  out.bytes.resize(p.files_offset + files_bytes);
  uint8_t* base = out.bytes.data();
  std::memcpy(base + p.json_offset, json.data(), json.size());
  for (size_t i = 0; i < out.header.tensors.size(); ++i) {
    encode_entry(out.header.tensors[i], base + p.directory_offset + i * kDirectoryEntryBytes);
  }
  for (const auto& [name, content] : files) {
    EmbeddedFile& file = out.header.files[name];
    file.offset += p.files_offset;
    std::memcpy(base + file.offset, content.data(), content.size());
  }
  p.json_checksum = xxh3_64(base + p.json_offset, p.json_bytes);
  p.directory_checksum = xxh3_64(base + p.directory_offset, p.tensor_count * kDirectoryEntryBytes);
  encode_preamble(p, base);
  return out;
}

}  // namespace nmc
