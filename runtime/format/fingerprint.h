// What tells one model file from another.
#pragma once

#include <string>

#include "runtime/format/header.h"

namespace nmc {

// Sixteen hexadecimal digits over the description, the checksums of all tensors and those of all
// embedded files (tokenizer, chat template, ...). No weight is read.
std::string fingerprint(const Header& header);

}  // namespace nmc
