#include "tests/runtime/text/grammar/bench_vocabulary.h"

#include <iterator>
#include <random>
#include <set>

#include "runtime/text/grammar/token_trie.h"

namespace nmc {

// Pieces like those of a byte-level BPE over prose and code: words with and without a blank before
// them, runs of punctuation and blanks, numbers, characters of several scripts.
std::vector<std::string> bench_vocabulary() {
  std::mt19937 random(1);
  auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  const char* syllables[] = {"a",  "be",   "con", "der", "e",   "fi", "ge",  "ing", "ion", "ka",
                             "le", "ment", "no",  "or",  "pre", "re", "st",  "ter", "un",  "ver",
                             "s",  "ed",   "ly",  "ex",  "in",  "to", "ate", "com", "pro", "al"};
  const char* marks[] = {"\"", "'", "{", "}", "[", "]", "(", ")", ":", ",",  ".",  ";",  "=",
                         "\\", "/", "-", ">", "<", "*", "&", "|", " ", "\n", "\t", "  ", "\\n"};
  std::set<std::string> pieces;
  for (int b = 0; b < 256; ++b) pieces.insert(std::string(1, static_cast<char>(b)));
  for (int n = 0; n < 1000; ++n) pieces.insert(std::to_string(n));
  for (int n = 1; n <= 64; ++n) {
    pieces.insert(std::string(static_cast<size_t>(n), ' '));
    pieces.insert("\n" + std::string(static_cast<size_t>(n), ' '));
  }
  while (pieces.size() < 20'000) {
    std::string piece;
    for (size_t n = 1 + random() % 4; n > 0; --n) piece += pick(marks);
    pieces.insert(random() % 6 == 0 ? piece + pick(syllables) : piece);
  }
  while (pieces.size() < 60'000) {
    std::string piece;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      uint32_t c = random() % 2 ? 0x4e00 + random() % 0x5000 : 0x400 + random() % 0x400;
      if (c >= 0x800) piece += static_cast<char>(0xe0 | c >> 12);
      piece += static_cast<char>(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
      piece += static_cast<char>(0x80 | (c & 0x3f));
    }
    pieces.insert(piece);
  }
  while (pieces.size() < kBenchVocabulary - 2) {
    std::string word;
    for (size_t n = 1 + random() % 5; n > 0; --n) word += pick(syllables);
    if (random() % 4 == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
    pieces.insert(random() % 2 ? " " + word : word);
  }
  std::vector<std::string> spellings(pieces.begin(), pieces.end());
  for (size_t id = kBenchVocabulary - 2; id < kBenchVocabulary; ++id)
    spellings.push_back(special_spelling(static_cast<int32_t>(id)));
  return spellings;
}

}  // namespace nmc
