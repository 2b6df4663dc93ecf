// Model files for tests.
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/format/model_file.h"
#include "tests/support/temporary_folder.h"

namespace nmc::test {

// The checkpoint in `folder`, converted. The file is gone from the disk when this returns; the
// mapping lives as long as the object.
std::shared_ptr<const ModelFile> convert_to_model(const std::filesystem::path& folder);

// The same weights under another description, which must ask for the same tensors.
std::shared_ptr<const ModelFile> with_description(const ModelFile& file,
                                                  const ModelDescription& description);

}  // namespace nmc::test
