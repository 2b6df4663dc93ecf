// How results are printed.
#pragma once

namespace nmc::bench {

enum class Format { kMarkdown, kCsv, kJson };  // kJson: an object a line

}  // namespace nmc::bench
