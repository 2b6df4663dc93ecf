// Byte-pair encoding of one word: merges the neighbours with the lowest rank until none is left.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/tokenizer/merge_table.h"
#include "runtime/text/tokenizer/tokenizer_json.h"
#include "runtime/text/tokenizer/vocabulary.h"

namespace nmc::tok {

// The "model" of a tokenizer.json of type BPE. Immutable, thread-safe.
class Bpe {
 public:
  // Working memory of one call of `encode`, kept to save allocations.
  struct Scratch;

  // `byte_level` says whether words are byte strings in the byte alphabet or plain characters.
  // `markers` are strings that a word never merges into, though the file's merges may allow it:
  // user text must not become a marker. Takes the vocabulary out of `file`.
  static Result<Bpe> build(TokenizerJson& file, bool byte_level,
                           const std::unordered_set<std::string>& markers);

  // Appends the ids of one word. Time n log n in its length.
  void encode(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  // The ids a word starts from: one for each byte (byte level) or character.
  void first_symbols(std::string_view word, std::vector<int32_t>& ids) const;
  bool append_bytes(std::string_view bytes, std::vector<int32_t>& ids) const;
  bool append_whole(std::string_view word, std::vector<int32_t>& out) const;
  const MergeTable::Merge* merge_at(size_t position, const Scratch& scratch) const;
  // Puts the merge at a position on the heap, if there is one.
  void consider(size_t position, Scratch& scratch) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  bool byte_level_ = false;
  bool ignore_merges_ = false;  // a word that is a token needs no merging
  std::vector<int32_t> markers_;
  bool byte_fallback_ = false;  // unknown characters become <0x00> tokens
  bool fuse_unknown_ = false;   // a run of unknown characters is one token
  int32_t unknown_ = -1;
  std::array<int32_t, 256> byte_id_{};  // of a byte's character, or of <0x00>; -1 if absent
};

struct Bpe::Scratch {
  struct Symbol {
    int32_t id;
    int32_t previous, next;  // neighbours that are still alive, -1 at the ends
  };
  // A merge that was possible when it was found: its rank above the position of its left symbol,
  // so that the smallest comes first.
  using Candidate = uint64_t;
  std::vector<int32_t> ids;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;  // smallest in front
};

}  // namespace nmc::tok
