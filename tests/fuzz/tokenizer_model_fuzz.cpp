// The protobuf reader of SentencePiece models: a broken one is a status, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/text/tokenizer/sentencepiece_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  auto model = nmc::tok::read_sentencepiece_model(bytes);
  // Rewriting keeps the length and can be done again.
  if (model.ok()) {
    if (model->bytes.size() != size) abort();
    if (!nmc::tok::read_sentencepiece_model(model->bytes).ok()) abort();
  }
  return 0;
}
