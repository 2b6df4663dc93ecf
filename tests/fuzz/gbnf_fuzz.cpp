// GBNF texts: refused with a sentence, or a grammar that takes exactly what its masks allow.
#include <cstdlib>

#include "runtime/text/grammar/gbnf.h"
#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/local_mask.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::shared_ptr<const nmc::GrammarVocabulary> vocabulary() {
  static const auto bytes = [] {
    std::vector<std::string> spellings;
    for (int b = 0; b < 256; ++b) spellings.emplace_back(1, static_cast<char>(b));
    for (const char* piece : {"ab", "abc", "root", "\n\n", "é"}) spellings.emplace_back(piece);
    return std::make_shared<const nmc::GrammarVocabulary>(spellings, std::vector<int32_t>{});
  }();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  nmc::GrammarBuilder b;
  auto root = nmc::parse_gbnf(b, input);
  auto grammar = root.ok() ? nmc::Grammar::compile(b, *root, vocabulary()) : root.status();
  if (!grammar.ok()) {
    require(!grammar.status().message().empty());
    return 0;
  }
  nmc::GrammarMatcher matcher(*grammar);
  std::vector<uint32_t> mask(vocabulary()->trie().mask_words());
  for (size_t step = 0; step < 40 && !matcher.must_end(); ++step) {
    matcher.fill_mask(mask);
    int32_t taken = -1;
    auto count = static_cast<int32_t>(vocabulary()->trie().vocab_size());
    for (int32_t i = 0; i < count && taken < 0; ++i) {
      int32_t token = (i + data[step % size]) % count;
      if (nmc::is_allowed(mask, token)) taken = token;
    }
    require(taken >= 0);
    require(matcher.accept_token(taken));
  }
  return 0;
}
