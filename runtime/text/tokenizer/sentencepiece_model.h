// The few fields of a SentencePiece model file (a protobuf) that its library does not show.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace nmc::tok {

// As in sentencepiece_model.proto, version 0.1.97.
enum class PieceType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct SentencePieceModel {
  struct Piece {
    std::string text;
    PieceType type = PieceType::kNormal;
  };
  std::vector<Piece> pieces;
  bool add_dummy_prefix = true;       // a space in front of every text
  bool whitespace_as_suffix = false;  // spaces end words instead of starting them

  // The model's bytes, in which user-defined pieces are control pieces: the library finds the
  // former in any text, and whether a marker counts is for the caller to say. Pieces of white
  // space stay as they are. `pieces` has the types of the original.
  std::string bytes;
};

Result<SentencePieceModel> read_sentencepiece_model(std::string bytes);

// The same model without a dummy prefix, for text that continues.
std::string without_dummy_prefix(const std::string& bytes);

// A piece as text: `▁` is a space.
std::string piece_text(const std::string& piece);

}  // namespace nmc::tok
