// Text to token ids and back: the only interface to tokenizers that the rest of the program sees.
//
// The rules come from the checkpoint's own files (tokenizer.json, or a SentencePiece model) and
// are never guessed: a construct that is not implemented is an error that names it. The behaviour
// to match is Hugging Face `tokenizers` for tokenizer.json and the sentencepiece library for
// tokenizer.model.
//
// A *marker* is an added token: text such as `<|END_TEXT|>` that stands for one id. In text that
// comes from users, markers must be plain text, or a user could end a turn by typing its marker.
// So each caller says which text may hold markers, and the `special` flag of the files plays no
// part in it. The one exception: added tokens of white space alone (some vocabularies keep their
// indentation runs that way) are recognised everywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace nmc {

// The contents of a checkpoint's tokenizer files; empty where the checkpoint has no such file.
struct TokenizerFiles {
  std::string tokenizer_json;
  std::string tokenizer_config_json;
  std::string
      sentencepiece_model;  // the bytes of tokenizer.model; read when tokenizer_json is empty
};

// A run of prompt text. `literal` text is user data: no marker is recognised in it, nor one that
// lies partly in it.
struct TextPiece {
  std::string_view text;
  bool literal = false;
};

// Immutable after loading; every member may be called from any number of threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // The ids of the concatenated pieces. A piece boundary does not change the result except by
  // what `literal` says. Adds neither BOS nor EOS. Any bytes are accepted: bytes that are not
  // UTF-8 become the ids of single bytes, as far as the vocabulary has them (SentencePiece models
  // read them as U+FFFD).
  virtual std::vector<int32_t> encode(std::span<const TextPiece> pieces) const = 0;

  // The same for one run of text; `parse_special` false makes it literal.
  std::vector<int32_t> encode(std::string_view text, bool parse_special) const;

  // What the checkpoint's files do to a raw prompt: `encode` between the ids that its
  // post-processor puts before and after (as a rule BOS in front), as amended by add_bos_token
  // and add_eos_token of tokenizer_config.json.
  virtual std::vector<int32_t> encode_with_bos(std::string_view text, bool parse_special) const = 0;

  // The exact bytes that an id decodes to, which may be part of a character; markers decode to
  // their text. Empty for ids the vocabulary does not have. Lives as long as the tokenizer.
  virtual std::string_view token_bytes(int32_t id) const = 0;

  // The bytes of the ids in order. A decoder that drops a leading space from a whole text (as
  // SentencePiece models do with the one they add) does so here and not in `token_bytes`.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;

  // The id of an added token by its text, or of a vocabulary entry by the string that stands for
  // it in the file (`Ġthe`, `▁the`, `<0x0A>`).
  virtual std::optional<int32_t> find(std::string_view token) const = 0;

  // One more than the highest id. There may be unused ids below.
  virtual int32_t vocab_size() const = 0;

  virtual bool is_added(int32_t id) const = 0;    // an added token
  virtual bool is_special(int32_t id) const = 0;  // an added token flagged special in the files

  // The ids of the tokens named in tokenizer_config.json, else by the model file.
  virtual std::optional<int32_t> bos_id() const = 0;
  virtual std::optional<int32_t> eos_id() const = 0;

 protected:
  Tokenizer() = default;
};

// Fails with kInvalidArgument, kUnsupported, kCorrupt (a broken model) or kNotFound (no files), and
// a sentence that names the file and the field.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const TokenizerFiles& files);

}  // namespace nmc
