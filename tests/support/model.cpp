#include "tests/support/model.h"

#include "convert/convert.h"
#include "runtime/format/model_writer.h"
#include "tests/support/require.h"

namespace nmc::test {

std::shared_ptr<const ModelFile> convert_to_model(const std::filesystem::path& folder) {
  TemporaryFolder temporary;
  OutputOptions options;
  options.out = temporary / "model.nmc";
  require(convert_checkpoint(folder, /*cast_bf16=*/false, options));
  return std::make_shared<const ModelFile>(require(ModelFile::open(options.out)));
}

std::shared_ptr<const ModelFile> with_description(const ModelFile& file,
                                                  const ModelDescription& description) {
  if (expected_tensors(description) != expected_tensors(file.model())) {
    throw std::runtime_error("the other description asks for other tensors");
  }
  TemporaryFolder temporary;
  const std::filesystem::path path = temporary / "model.nmc";
  ModelWriter writer = require(ModelWriter::create(path, description, Json::object(), {}));
  for (size_t i = 0; i < writer.tensors().size(); ++i) {
    const TensorEntry& source = *file.find(writer.tensors()[i].name);
    require(writer.write(i, 0, file.bytes(source)));
    writer.set_checksum(i, source.checksum);
  }
  require(writer.finish());
  return std::make_shared<const ModelFile>(require(ModelFile::open(path)));
}

}  // namespace nmc::test
