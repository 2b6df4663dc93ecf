#include "runtime/text/tokenizer/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <cstdlib>
#include <unordered_map>

#include "runtime/text/tokenizer/added_tokens.h"
#include "runtime/text/tokenizer/sentencepiece_model.h"
#include "runtime/text/tokenizer/token_table.h"

namespace nmc::tok {
namespace {

// What the library writes for an unknown piece, its default.
constexpr const char* kUnknownSurface = " \xe2\x81\x87 ";

std::string piece_bytes(const SentencePieceModel::Piece& piece) {
  switch (piece.type) {
    case PieceType::kUnknown:
      return kUnknownSurface;
    case PieceType::kByte:  // <0x0A>
      if (piece.text.size() != 6) return piece.text;
      return std::string(1, static_cast<char>(std::strtol(piece.text.c_str() + 3, nullptr, 16)));
    case PieceType::kControl:
    case PieceType::kUserDefined:
    case PieceType::kNormal:
    case PieceType::kUnused:
      break;
  }
  return piece_text(piece.text);
}

class SentencePieceTokenizer final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> load(std::string bytes, const TokenizerConfig& config);

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
  SentencePieceTokenizer() = default;

  void fill(const SentencePieceModel& model, const TokenizerConfig& config);
  std::optional<int32_t> named(const std::string& token, int model_id) const;
  void append(std::string_view text, bool first, std::vector<int32_t>& out) const;

  sentencepiece::SentencePieceProcessor whole_;         // text from its start
  sentencepiece::SentencePieceProcessor continuation_;  // text behind a marker
  bool dummy_prefix_ = false;
  std::unordered_map<std::string, int32_t> ids_;
  AddedTokenMatcher markers_{{}};
  TokenTable table_;
  std::optional<int32_t> bos_, eos_;
  bool add_bos_ = false, add_eos_ = false;
};

Result<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::load(std::string bytes,
                                                                const TokenizerConfig& config) {
  NMC_ASSIGN(SentencePieceModel model, read_sentencepiece_model(std::move(bytes)));
  if (model.whitespace_as_suffix)
    return unsupported("tokenizer.model: treat_whitespace_as_suffix is not supported");
  std::unique_ptr<SentencePieceTokenizer> t(new SentencePieceTokenizer);
  // Hugging Face's older ("legacy") tokenizers add the prefix after every marker too.
  bool prefix_everywhere = config.legacy.value_or(true);
  std::string tail = prefix_everywhere || !model.add_dummy_prefix
                         ? model.bytes
                         : without_dummy_prefix(model.bytes);
  for (auto [processor, source] :
       {std::pair(&t->whole_, &model.bytes), std::pair(&t->continuation_, &tail)}) {
    auto status = processor->LoadFromSerializedProto(*source);
    if (!status.ok()) return corrupt(std::string("tokenizer.model: ") + status.error_message());
  }
  t->fill(model, config);
  return std::unique_ptr<Tokenizer>(std::move(t));
}

void SentencePieceTokenizer::fill(const SentencePieceModel& model, const TokenizerConfig& config) {
  dummy_prefix_ = model.add_dummy_prefix;
  std::unordered_map<int32_t, AddedToken> added;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const auto& piece = model.pieces[i];
    auto id = static_cast<int32_t>(i);
    table_.set(id, piece_bytes(piece));
    ids_[piece.text] = id;
    bool control = piece.type == PieceType::kControl;
    if (control || piece.type == PieceType::kUserDefined) {
      AddedToken token{id, piece_text(piece.text)};
      token.special = control;
      if (!token.content.empty()) added[id] = token;
    }
  }
  for (const AddedToken& token : config.added) {
    added[token.id] = token;
    ids_[token.content] = token.id;
  }
  std::vector<AddedToken> markers;
  for (auto& [id, token] : added) {
    table_.set(id, token.content);
    table_.set_added(id, token.special);
    markers.push_back(std::move(token));
  }
  markers_ = AddedTokenMatcher(std::move(markers));

  bos_ = named(config.bos_token, whole_.bos_id());
  eos_ = named(config.eos_token, whole_.eos_id());
  add_bos_ = bos_ && config.add_bos.value_or(true);
  add_eos_ = eos_ && config.add_eos.value_or(false);
}

std::optional<int32_t> SentencePieceTokenizer::named(const std::string& token, int model_id) const {
  if (!token.empty()) return find(token);
  return model_id >= 0 ? std::optional<int32_t>(model_id) : std::nullopt;
}

std::vector<int32_t> SentencePieceTokenizer::encode(std::span<const TextPiece> pieces) const {
  std::string text;
  LiteralRanges literal;
  for (const TextPiece& piece : pieces) {
    if (piece.literal) literal.add(text.size(), text.size() + piece.text.size());
    text += piece.text;
  }
  std::vector<int32_t> out;
  for (size_t at = 0;;) {
    auto hit = markers_.find(text, at, 0, literal);
    size_t end = hit.id < 0 ? text.size() : hit.begin;
    if (end > at) append(std::string_view(text).substr(at, end - at), at == 0, out);
    if (hit.id < 0) return out;
    out.push_back(hit.id);
    at = hit.end;
  }
}

void SentencePieceTokenizer::append(std::string_view text, bool first,
                                    std::vector<int32_t>& out) const {
  std::vector<int> ids;
  // Encoding fails only for a processor without a model.
  auto status = (first ? whole_ : continuation_).Encode(text, &ids);
  assert(status.ok());
  (void)status;
  out.insert(out.end(), ids.begin(), ids.end());
}

std::vector<int32_t> SentencePieceTokenizer::encode_with_bos(std::string_view text,
                                                             bool parse_special) const {
  std::vector<int32_t> out;
  if (add_bos_) out.push_back(*bos_);
  std::vector<int32_t> ids = Tokenizer::encode(text, parse_special);
  out.insert(out.end(), ids.begin(), ids.end());
  if (add_eos_) out.push_back(*eos_);
  return out;
}

std::string SentencePieceTokenizer::decode(std::span<const int32_t> ids) const {
  std::string out;
  bool at_start = true;  // nothing but markers so far
  for (int32_t id : ids) {
    std::string_view bytes = table_.bytes(id);
    bool marker = table_.is_added(id);
    if (dummy_prefix_ && at_start && !marker && bytes.starts_with(' ')) bytes.remove_prefix(1);
    at_start = at_start && marker;
    out += bytes;
  }
  return out;
}

std::optional<int32_t> SentencePieceTokenizer::find(std::string_view token) const {
  auto it = ids_.find(std::string(token));
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_sentencepiece_tokenizer(std::string model,
                                                                const TokenizerConfig& config) {
  return SentencePieceTokenizer::load(std::move(model), config);
}

}  // namespace nmc::tok
