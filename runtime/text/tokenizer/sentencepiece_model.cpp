#include "runtime/text/tokenizer/sentencepiece_model.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/text/tokenizer/vocabulary.h"

namespace nmc::tok {
namespace {

constexpr std::string_view kSpaceSymbol = "\xe2\x96\x81";  // U+2581

// Field numbers of sentencepiece_model.proto.
constexpr uint64_t kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3;
constexpr uint64_t kPieceText = 1, kPieceType = 3;
constexpr uint64_t kTreatWhitespaceAsSuffix = 24;
constexpr uint64_t kAddDummyPrefix = 3;

struct Field {
  uint64_t number = 0;
  uint64_t value = 0;        // of a varint
  std::string_view bytes;    // of a length-delimited field
  const char* at = nullptr;  // where the value starts
};

// Reads one protobuf message field by field; every offset is checked.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  // Nothing when the bytes are not a field.
  std::optional<Field> next() {
    auto tag = varint();
    if (!tag) return std::nullopt;
    Field f;
    f.number = *tag >> 3;
    f.at = rest_.data();
    switch (*tag & 7) {
      case 0: {
        auto value = varint();
        if (!value) return std::nullopt;
        f.value = *value;
        return f;
      }
      case 1:
        return take(8) ? std::optional(f) : std::nullopt;
      case 2: {
        auto size = varint();
        if (!size || *size > rest_.size()) return std::nullopt;
        f.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return f;
      }
      case 5:
        return take(4) ? std::optional(f) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  bool take(size_t n) {
    if (rest_.size() < n) return false;
    rest_.remove_prefix(n);
    return true;
  }

  std::string_view rest_;
};

Status broken() {
  return corrupt("tokenizer.model is not a SentencePiece model: its protobuf is broken");
}

bool is_blank(const std::string& piece) {
  return piece_text(piece).find_first_not_of(" \t\n\r") == std::string::npos;
}

// Reads one piece; a marker becomes a control piece in `bytes`, which holds `field`.
Status read_piece(std::string_view field, std::string& bytes, SentencePieceModel& model) {
  SentencePieceModel::Piece piece;
  const char* type_at = nullptr;
  for (Message m(field); !m.done();) {
    auto f = m.next();
    if (!f) return broken();
    if (f->number == kPieceText) piece.text = f->bytes;
    if (f->number == kPieceType) {
      piece.type = static_cast<PieceType>(f->value);
      type_at = f->at;
    }
  }
  if (piece.type == PieceType::kUserDefined && !is_blank(piece.text)) {
    char& type = bytes[static_cast<size_t>(type_at - bytes.data())];
    constexpr int kMore = 0x80;  // a varint may be written with more bytes than it needs
    type = static_cast<char>((type & kMore) | static_cast<int>(PieceType::kControl));
  }
  if (model.pieces.size() >= static_cast<size_t>(kMaxTokens))
    return invalid_argument("tokenizer.model has more than " + std::to_string(kMaxTokens) +
                            " pieces");
  model.pieces.push_back(std::move(piece));
  return {};
}

// The bool `number` of a message, or what it was.
Result<bool> read_flag(std::string_view message, uint64_t number, bool value) {
  for (Message m(message); !m.done();) {
    auto f = m.next();
    if (!f) return broken();
    if (f->number == number) value = f->value != 0;
  }
  return value;
}

}  // namespace

std::string piece_text(const std::string& piece) {
  std::string text = piece;
  for (size_t at = 0; (at = text.find(kSpaceSymbol, at)) != std::string::npos; ++at)
    text.replace(at, kSpaceSymbol.size(), " ");
  return text;
}

Result<SentencePieceModel> read_sentencepiece_model(std::string bytes) {
  SentencePieceModel model;
  for (Message m(bytes); !m.done();) {
    auto f = m.next();
    if (!f) return broken();
    if (f->number == kPieces) NMC_TRY(read_piece(f->bytes, bytes, model));
    if (f->number == kTrainerSpec) {
      NMC_ASSIGN(model.whitespace_as_suffix,
                 read_flag(f->bytes, kTreatWhitespaceAsSuffix, model.whitespace_as_suffix));
    }
    if (f->number == kNormalizerSpec) {
      NMC_ASSIGN(model.add_dummy_prefix,
                 read_flag(f->bytes, kAddDummyPrefix, model.add_dummy_prefix));
    }
  }
  if (model.pieces.empty()) return corrupt("tokenizer.model has no pieces");
  model.bytes = std::move(bytes);
  return model;
}

std::string without_dummy_prefix(const std::string& bytes) {
  // Of a field that comes twice a protobuf reader takes the last, merging messages: so it is
  // enough to append a normalizer specification of two bytes, add_dummy_prefix = 0.
  constexpr char kOverride[] = {kNormalizerSpec << 3 | 2, 2, kAddDummyPrefix << 3, 0};
  return bytes + std::string(kOverride, sizeof kOverride);
}

}  // namespace nmc::tok
