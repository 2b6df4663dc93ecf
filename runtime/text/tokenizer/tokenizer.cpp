#include "runtime/text/tokenizer/tokenizer.h"

#include "runtime/text/tokenizer/bpe_tokenizer.h"
#include "runtime/text/tokenizer/sentencepiece_tokenizer.h"
#include "runtime/text/tokenizer/tokenizer_config.h"

namespace nmc {

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool parse_special) const {
  TextPiece piece{text, !parse_special};
  return encode(std::span(&piece, 1));
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const TokenizerFiles& files) {
  NMC_ASSIGN(tok::TokenizerConfig config, tok::read_tokenizer_config(files.tokenizer_config_json));
  if (!files.tokenizer_json.empty()) return tok::load_bpe_tokenizer(files.tokenizer_json, config);
  if (!files.sentencepiece_model.empty())
    return tok::load_sentencepiece_tokenizer(files.sentencepiece_model, config);
  return not_found("the checkpoint has neither tokenizer.json nor tokenizer.model");
}

}  // namespace nmc
