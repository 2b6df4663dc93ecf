#include "runtime/format/model_writer.h"

#include <cassert>

#include "runtime/model/config.h"

namespace nmc {

ModelWriter::ModelWriter(AtomicFile file, EncodedHeader head,
                         std::map<std::string, std::string> files)
    : file_(std::move(file)),
      head_(std::move(head)),
      files_(std::move(files)),
      checksums_(head_.header.tensors.size()) {}

Result<ModelWriter> ModelWriter::create(const std::filesystem::path& path,
                                        const ModelDescription& model, const Json& provenance,
                                        std::map<std::string, std::string> files) {
  // What no reader would take must not be written. The header wraps the provenance, hence the
  // margins.
  NMC_TRY(check_description(model, "the model", FieldNames::kHeader));
  JsonLimits limits{.bytes = kMaxJsonBytes / 2, .depth = JsonLimits().depth - 2};
  NMC_TRY(parse_json(dump_json(provenance), "the provenance", limits).status());
  EncodedHeader head = encode_header(model, provenance, files, {});
  NMC_ASSIGN(AtomicFile file, AtomicFile::create(path));
  NMC_TRY(file.resize(head.header.file_bytes));
  return ModelWriter(std::move(file), std::move(head), std::move(files));
}

Status ModelWriter::write(size_t index, uint64_t offset, std::span<const uint8_t> bytes) {
  const TensorEntry& t = tensors()[index];
  assert(offset + bytes.size() <= t.bytes());
  return file_.write_at(t.offset + offset, bytes);
}

Status ModelWriter::finish() {
  const Header& h = head_.header;
  EncodedHeader final_head = encode_header(h.model, h.provenance, files_, checksums_);
  NMC_TRY(file_.write_at(0, final_head.bytes));
  return file_.commit();
}

}  // namespace nmc
