// The order of work, as in Hugging Face's tokenizers: added tokens that want raw text are cut
// out; what lies between is normalized; added tokens that want normalized text are cut out of
// that; the rest is split into words, and each word is encoded.
#include "runtime/text/tokenizer/bpe_tokenizer.h"

#include <unordered_map>
#include <unordered_set>

#include "runtime/text/tokenizer/bpe.h"
#include "runtime/text/tokenizer/decoder.h"
#include "runtime/text/tokenizer/normalizer.h"
#include "runtime/text/tokenizer/pool.h"
#include "runtime/text/tokenizer/post_processor.h"
#include "runtime/text/tokenizer/pre_tokenizer.h"
#include "runtime/text/tokenizer/token_table.h"
#include "runtime/text/tokenizer/tokenizer_json.h"
#include "runtime/text/tokenizer/word_cache.h"

namespace nmc::tok {
namespace {

// Working memory grows with the text; after a longer one it is not kept.
constexpr size_t kKeepScratchBytes = 4u << 20;

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

class BpeTokenizer final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> load(std::string_view text,
                                                 const TokenizerConfig& config);

  std::vector<int32_t> encode(std::span<const TextPiece> pieces) const override;
  std::vector<int32_t> encode_with_bos(std::string_view text, bool parse_special) const override;
  std::string_view token_bytes(int32_t id) const override { return table_.bytes(id); }
  std::string decode(std::span<const int32_t> ids) const override;
  std::optional<int32_t> find(std::string_view token) const override;
  int32_t vocab_size() const override { return table_.size(); }
  bool is_added(int32_t id) const override { return table_.is_added(id); }
  bool is_special(int32_t id) const override { return table_.is_special(id); }
  std::optional<int32_t> bos_id() const override { return bos_; }
  std::optional<int32_t> eos_id() const override { return eos_; }

 private:
  struct Scratch {
    PreTokenizer::Scratch words;
    Bpe::Scratch bpe;
    WordCache cache;
  };

  BpeTokenizer(Normalizer normalizer, PreTokenizer pre_tokenizer, Bpe bpe, Decoder decoder)
      : normalizer_(std::move(normalizer)),
        pre_tokenizer_(std::move(pre_tokenizer)),
        bpe_(std::move(bpe)),
        decoder_(std::move(decoder)) {}

  Status add_tokens(const std::vector<AddedToken>& tokens);
  void fill_table(const std::vector<AddedToken>& tokens);

  void encode_raw(std::string_view text, const LiteralRanges& literal, Scratch& scratch,
                  std::vector<int32_t>& out) const;
  void encode_normalized(std::string_view text, size_t offset, const LiteralRanges& literal,
                         Scratch& scratch, std::vector<int32_t>& out) const;
  void encode_words(std::string_view text, Scratch& scratch, std::vector<int32_t>& out) const;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const;

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Bpe bpe_;
  Decoder decoder_;
  PostProcessor post_processor_;
  AddedTokenMatcher raw_tokens_{{}}, normalized_tokens_{{}};
  std::unordered_map<std::string, int32_t> added_ids_;
  TokenTable table_;
  std::optional<int32_t> bos_, eos_;
  mutable Pool<Scratch> scratch_;
};

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::load(std::string_view text,
                                                      const TokenizerConfig& config) {
  NMC_ASSIGN(TokenizerJson file, read_tokenizer_json(text));
  NMC_ASSIGN(Normalizer normalizer, Normalizer::build(member(file.rest, "normalizer")));
  NMC_ASSIGN(PreTokenizer pre_tokenizer, PreTokenizer::build(member(file.rest, "pre_tokenizer")));
  NMC_ASSIGN(auto added, read_added_tokens(member(file.rest, "added_tokens")));
  std::unordered_set<std::string> markers;
  for (const AddedToken& token : added) {
    if (!token.blank()) markers.insert(token.content);
  }
  NMC_ASSIGN(Bpe bpe, Bpe::build(file, pre_tokenizer.byte_level(), markers));
  NMC_ASSIGN(Decoder decoder, Decoder::build(member(file.rest, "decoder")));
  std::unique_ptr<BpeTokenizer> t(new BpeTokenizer(std::move(normalizer), std::move(pre_tokenizer),
                                                   std::move(bpe), std::move(decoder)));
  NMC_ASSIGN(t->post_processor_, read_post_processor(member(file.rest, "post_processor")));
  NMC_TRY(t->add_tokens(added));
  t->fill_table(added);
  if (!config.bos_token.empty()) t->bos_ = t->find(config.bos_token);
  if (!config.eos_token.empty()) t->eos_ = t->find(config.eos_token);
  if (t->bos_ && config.add_bos) set_first(t->post_processor_.before, *t->bos_, *config.add_bos);
  if (t->eos_ && config.add_eos) set_last(t->post_processor_.after, *t->eos_, *config.add_eos);
  return std::unique_ptr<Tokenizer>(std::move(t));
}

Status BpeTokenizer::add_tokens(const std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> raw, normalized;
  for (const AddedToken& token : tokens) {
    auto listed = bpe_.vocabulary().find(token.content);
    std::string_view taken = bpe_.vocabulary().text(token.id);
    if ((listed && *listed != token.id) || (!taken.empty() && taken != token.content)) {
      return invalid_argument("tokenizer.json: added_tokens gives \"" + token.content +
                              "\" the id " + std::to_string(token.id) +
                              ", which contradicts model.vocab");
    }
    added_ids_[token.content] = token.id;
    if (token.normalized) {
      normalized.push_back(token);
      if (normalizer_.changes(token.content))
        normalized.back().content = normalizer_.apply(token.content, 0, {}).text;
      if (normalized.back().content.size() > kMaxAddedToken) {
        return invalid_argument("tokenizer.json: added_tokens: \"" + token.content +
                                "\" is too long after normalization");
      }
    } else {
      raw.push_back(token);
    }
  }
  raw_tokens_ = AddedTokenMatcher(std::move(raw));
  normalized_tokens_ = AddedTokenMatcher(std::move(normalized));
  return {};
}

void BpeTokenizer::fill_table(const std::vector<AddedToken>& tokens) {
  const Vocabulary& vocabulary = bpe_.vocabulary();
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    table_.set(id, decoder_.bytes(vocabulary.text(id)));
  for (const AddedToken& token : tokens) {
    table_.set(token.id, token.content);
    table_.set_added(token.id, token.special);
  }
}

std::vector<int32_t> BpeTokenizer::encode(std::span<const TextPiece> pieces) const {
  std::string joined;
  LiteralRanges literal;
  for (const TextPiece& piece : pieces) {
    if (piece.literal) literal.add(joined.size(), joined.size() + piece.text.size());
    joined += piece.text;
  }
  std::vector<int32_t> out;
  out.reserve(joined.size() / 4 + 16);
  Pool<Scratch>::Loan scratch(scratch_);
  encode_raw(joined, literal, *scratch, out);
  if (joined.size() > kKeepScratchBytes) scratch.discard();
  return out;
}

std::vector<int32_t> BpeTokenizer::encode_with_bos(std::string_view text,
                                                   bool parse_special) const {
  std::vector<int32_t> out = post_processor_.before;
  std::vector<int32_t> ids = Tokenizer::encode(text, parse_special);
  out.insert(out.end(), ids.begin(), ids.end());
  out.insert(out.end(), post_processor_.after.begin(), post_processor_.after.end());
  return out;
}

void BpeTokenizer::encode_raw(std::string_view text, const LiteralRanges& literal, Scratch& scratch,
                              std::vector<int32_t>& out) const {
  size_t at = 0;
  for (;;) {
    auto hit = raw_tokens_.find(text, at, 0, literal);
    std::string_view between =
        text.substr(at, hit.id < 0 ? std::string_view::npos : hit.begin - at);
    if (!normalizer_.changes(between)) {
      encode_normalized(between, at, literal, scratch, out);
    } else {
      Normalizer::Output normal = normalizer_.apply(between, at, literal);
      encode_normalized(normal.text, 0, normal.literal, scratch, out);
    }
    if (hit.id < 0) return;
    out.push_back(hit.id);
    at = hit.end;
  }
}

void BpeTokenizer::encode_normalized(std::string_view text, size_t offset,
                                     const LiteralRanges& literal, Scratch& scratch,
                                     std::vector<int32_t>& out) const {
  size_t at = 0;
  for (;;) {
    auto hit = normalized_tokens_.find(text, at, offset, literal);
    encode_words(text.substr(at, hit.id < 0 ? std::string_view::npos : hit.begin - at), scratch,
                 out);
    if (hit.id < 0) return;
    out.push_back(hit.id);
    at = hit.end;
  }
}

void BpeTokenizer::encode_words(std::string_view text, Scratch& scratch,
                                std::vector<int32_t>& out) const {
  pre_tokenizer_.split(text, scratch.words);
  for (std::string_view word : scratch.words.words) encode_word(word, scratch, out);
}

void BpeTokenizer::encode_word(std::string_view word, Scratch& scratch,
                               std::vector<int32_t>& out) const {
  if (word.size() > WordCache::kMaxWord) return bpe_.encode(word, scratch.bpe, out);
  bool hit;
  WordCache::Slot& slot = scratch.cache.lookup(word, hit);
  if (hit) {
    out.insert(out.end(), slot.ids, slot.ids + slot.count);
    return;
  }
  size_t before = out.size();
  bpe_.encode(word, scratch.bpe, out);
  WordCache::fill(slot, word, std::span(out).subspan(before));
}

std::string BpeTokenizer::decode(std::span<const int32_t> ids) const {
  std::string out;
  for (int32_t id : ids) out += table_.bytes(id);
  size_t spaces = 0;
  while (spaces < decoder_.strip_leading() && spaces < out.size() && out[spaces] == ' ') ++spaces;
  out.erase(0, spaces);
  return out;
}

std::optional<int32_t> BpeTokenizer::find(std::string_view token) const {
  auto it = added_ids_.find(std::string(token));
  if (it != added_ids_.end()) return it->second;
  return bpe_.vocabulary().find(token);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_bpe_tokenizer(std::string_view tokenizer_json,
                                                      const TokenizerConfig& config) {
  return BpeTokenizer::load(tokenizer_json, config);
}

}  // namespace nmc::tok
