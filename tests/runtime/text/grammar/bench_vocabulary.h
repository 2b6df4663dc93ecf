// A made-up vocabulary of the size of a large model's.
#pragma once

#include <string>
#include <vector>

namespace nmc {

inline constexpr size_t kBenchVocabulary = 262'144;

// Spellings by token id. The last two tokens are special; the last one ends a text.
std::vector<std::string> bench_vocabulary();

}  // namespace nmc
