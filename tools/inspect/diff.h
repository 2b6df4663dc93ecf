// What differs between two model files.
#pragma once

#include <string>
#include <vector>

#include "runtime/format/model_file.h"

namespace nmc {

// One line for each field of the model, embedded file and tensor that one file has and the other
// has not, or that differs; values of tensors of one shape are counted where their checksums
// differ. Where they came from and where things lie in the files do not matter. Empty: nothing
// differs. After an interrupt it returns early, and what it returns means nothing.
std::vector<std::string> diff_files(const ModelFile& first, const ModelFile& second);

}  // namespace nmc
