#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/text.h"
#include "runtime/format/header.h"
#include "runtime/format/preamble.h"
#include "runtime/model/config.h"

namespace nmc {
namespace {

Result<std::map<std::string, EmbeddedFile>> decode_files(const Json& json, const Preamble& p,
                                                         const std::string& what) {
  std::map<std::string, EmbeddedFile> files;
  auto it = json.find("files");
  if (it == json.end() || !it->is_object())
    return corrupt(what + ": the header lists no embedded files");
  for (const auto& [name, value] : it->items()) {
    std::string where = what + ": files." + name;
    EmbeddedFile file;
    for (auto [key, target] :
         {std::pair{"offset", &file.offset}, {"bytes", &file.bytes}, {"xxh3", &file.checksum}}) {
      auto field = value.is_object() ? value.find(key) : value.end();
      if (!value.is_object() || field == value.end() || !field->is_number_unsigned()) {
        return corrupt(where + " has no \"" + key + "\"");
      }
      *target = field->get<uint64_t>();
    }
    if (file.offset > p.files_bytes || file.bytes > p.files_bytes - file.offset) {
      return corrupt(where + " lies outside the embedded files");
    }
    file.offset += p.files_offset;
    files[name] = file;
  }
  return files;
}

// A directory entry as it stands in the file; its numbers are not trusted yet.
struct RawEntry {
  TensorEntry tensor;
  uint32_t dtype;
  uint64_t padded_rows, padded_cols, bytes;
};

RawEntry decode_entry(const uint8_t* p) {
  RawEntry e;
  const char* name = reinterpret_cast<const char*>(p);
  e.tensor.name.assign(name, strnlen(name, kTensorNameBytes));
  e.dtype = load_le<uint32_t>(p + 128);
  e.tensor.layout = static_cast<TensorLayout>(load_le<uint32_t>(p + 132));
  e.tensor.order = static_cast<RowOrder>(load_le<uint32_t>(p + 136));
  e.tensor.row_block = load_le<uint32_t>(p + 140);
  e.tensor.section = load_le<uint32_t>(p + 144);
  e.tensor.count = load_le<uint64_t>(p + 152);
  e.tensor.rows = load_le<uint64_t>(p + 160);
  e.tensor.cols = load_le<uint64_t>(p + 168);
  e.padded_rows = load_le<uint64_t>(p + 176);
  e.padded_cols = load_le<uint64_t>(p + 184);
  e.tensor.offset = load_le<uint64_t>(p + 192);
  e.bytes = load_le<uint64_t>(p + 200);
  e.tensor.checksum = load_le<uint64_t>(p + 208);
  return e;
}

// Every field must be what the model's description implies: nothing in the directory is believed.
Status check_entry(const RawEntry& e, const TensorSpec& expected, uint64_t previous_end,
                   uint32_t previous_section, const Preamble& p, const std::string& what) {
  const TensorEntry& t = e.tensor;
  auto bad = [&](const std::string& why) {
    return corrupt(what + ": tensor \"" + expected.name + "\" " + why);
  };
  if (t.name != expected.name)
    return bad("is expected where the directory has \"" + valid_utf8(t.name) + "\"");
  if (e.dtype != kDtypeBf16)
    return bad("has dtype " + std::to_string(e.dtype) + "; only 1 (BF16) is known");
  if (static_cast<const TensorSpec&>(t) != expected) {
    return bad("has a shape, layout or row order that the model's description does not imply: [" +
               std::to_string(t.count) + ", " + std::to_string(t.rows) + ", " +
               std::to_string(t.cols) + "] where [" + std::to_string(expected.count) + ", " +
               std::to_string(expected.rows) + ", " + std::to_string(expected.cols) +
               "] is expected");
  }
  if (e.padded_rows != t.padded_rows() || e.padded_cols != t.padded_cols() ||
      e.bytes != t.bytes()) {
    return bad("states a padded shape or size that does not follow from its shape");
  }
  bool first = t.section != previous_section;
  if (t.offset % (first ? kSectionAlignment : kTensorAlignment) != 0) return bad("is not aligned");
  if (t.offset < previous_end || t.offset > p.file_bytes || e.bytes > p.file_bytes - t.offset) {
    return bad("lies outside the file or overlaps the tensor before it");
  }
  return {};
}

}  // namespace

Result<Header> decode_header(std::span<const uint8_t> bytes, const std::string& what) {
  NMC_ASSIGN(Preamble p, decode_preamble(bytes, what));
  const uint8_t* directory = bytes.data() + p.directory_offset;
  if (xxh3_64(bytes.data() + p.json_offset, p.json_bytes) != p.json_checksum) {
    return corrupt(what + ": the JSON header's checksum does not match; the file is damaged");
  }
  if (xxh3_64(directory, p.tensor_count * kDirectoryEntryBytes) != p.directory_checksum) {
    return corrupt(what + ": the tensor directory's checksum does not match; the file is damaged");
  }
  std::string_view text(reinterpret_cast<const char*>(bytes.data() + p.json_offset), p.json_bytes);
  NMC_ASSIGN(Json json, parse_json(text, what + ": header"));
  auto model = json.is_object() ? json.find("model") : json.end();
  if (!json.is_object() || model == json.end())
    return corrupt(what + ": the header describes no model");

  Header header;
  NMC_ASSIGN(header.model, description_from_json(*model, what + ": header"));
  header.provenance = json.value("provenance", Json::object());
  NMC_ASSIGN(header.files, decode_files(json, p, what));
  header.file_bytes = p.file_bytes;

  std::vector<TensorSpec> expected = expected_tensors(header.model);
  if (expected.size() != p.tensor_count) {
    return corrupt(what + " holds " + std::to_string(p.tensor_count) + " tensors; its model has " +
                   std::to_string(expected.size()));
  }
  uint64_t end = p.data_offset;
  uint32_t section = UINT32_MAX;
  for (size_t i = 0; i < expected.size(); ++i) {
    RawEntry entry = decode_entry(directory + i * kDirectoryEntryBytes);
    NMC_TRY(check_entry(entry, expected[i], end, section, p, what));
    end = entry.tensor.offset + entry.bytes;
    section = entry.tensor.section;
    header.tensors.push_back(std::move(entry.tensor));
  }
  if (align_up(end, kTensorAlignment) != p.file_bytes)
    return corrupt(what + " does not end with its last tensor");
  return header;
}

}  // namespace nmc
