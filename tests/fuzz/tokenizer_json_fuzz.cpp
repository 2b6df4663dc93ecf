// A tokenizer.json, a zero byte, and a text: loads the one and encodes the other. The ids must be
// ids of the vocabulary, and where a text is cut into pieces must not matter.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/text/tokenizer/detokenizer.h"
#include "runtime/text/tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t zero = input.find('\0');
  std::string_view text = zero == std::string_view::npos ? "" : input.substr(zero + 1);
  nmc::TokenizerFiles files;
  files.tokenizer_json = input.substr(0, zero);
  auto loaded = nmc::load_tokenizer(files);
  if (!loaded.ok()) return 0;
  const nmc::Tokenizer& t = **loaded;

  std::vector<int32_t> ids = t.encode_with_bos(text, true);
  nmc::Detokenizer stream(t);
  for (int32_t id : ids) stream.push(id);
  stream.flush();
  t.decode(ids);

  std::string_view half = text.substr(0, text.size() / 2);
  nmc::TextPiece pieces[] = {{half, true}, {text.substr(half.size()), true}};
  ids = t.encode(pieces);
  if (ids != t.encode(text, false)) abort();
  for (int32_t id : ids) {
    if (id < 0 || id >= t.vocab_size()) abort();
  }
  return 0;
}
