#include "runtime/text/tokenizer/bpe.h"

#include <algorithm>
#include <functional>

#include "runtime/base/text.h"
#include "runtime/text/tokenizer/byte_alphabet.h"
#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

constexpr const char* kBpeModel = "tokenizer.json: model";
constexpr int32_t kGone = -1;  // the id of a symbol that was merged into its left neighbour

// Options that change every result and that no supported family uses.
Status refuse_options(const Json& model) {
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    NMC_ASSIGN(std::string value, json_string(model, key, kBpeModel, ""));
    if (!value.empty())
      return unsupported(std::string(kBpeModel) + "." + key + " is not supported");
  }
  NMC_ASSIGN(double dropout, json_number(model, "dropout", kBpeModel, 0));
  if (dropout != 0) return unsupported(std::string(kBpeModel) + ".dropout must be 0 for inference");
  return {};
}

Result<MergeTable> build_merges(const TokenizerJson& file, const Vocabulary& vocabulary,
                                const std::unordered_set<std::string>& markers) {
  MergeTable table(file.merges.size());
  for (size_t i = 0; i < file.merges.size(); ++i) {
    const auto& [left, right] = file.merges[i];
    int32_t ids[3];
    const std::string* parts[] = {&left, &right, nullptr};
    std::string merged = left + right;
    parts[2] = &merged;
    for (int k = 0; k < 3; ++k) {
      auto id = vocabulary.find(*parts[k]);
      if (!id) {
        return invalid_argument("tokenizer.json: model.merges[" + std::to_string(i) + "] needs \"" +
                                *parts[k] + "\", which is not in model.vocab");
      }
      ids[k] = *id;
    }
    if (!markers.contains(merged)) table.set(ids[0], ids[1], {static_cast<uint32_t>(i), ids[2]});
  }
  return table;
}

std::string byte_name(int byte) {
  return format("<0x%02X>", static_cast<unsigned>(byte));
}

}  // namespace

Result<Bpe> Bpe::build(TokenizerJson& file, bool byte_level,
                       const std::unordered_set<std::string>& markers) {
  auto it = file.rest.find("model");
  if (it == file.rest.end() || !it->is_object())
    return invalid_argument("tokenizer.json: the field \"model\" must be an object");
  const Json& model = *it;
  // Old files leave the type out; BPE is what has merges.
  NMC_ASSIGN(std::string type, json_string(model, "type", kBpeModel, "BPE"));
  if (type != "BPE")
    return unsupported("tokenizer.json: the model type \"" + type + "\" is not supported; BPE is");
  NMC_TRY(refuse_options(model));
  if (file.vocab.empty())
    return invalid_argument("tokenizer.json: \"model.vocab\" must be an object with tokens");
  if (!file.has_merges)
    return invalid_argument("tokenizer.json: the field \"model.merges\" must be an array");

  Bpe bpe;
  NMC_ASSIGN(bpe.vocabulary_, Vocabulary::build(std::move(file.vocab), kBpeModel));
  NMC_ASSIGN(bpe.merges_, build_merges(file, bpe.vocabulary_, markers));
  for (const std::string& marker : markers) {
    if (auto id = bpe.vocabulary_.find(marker)) bpe.markers_.push_back(*id);
  }
  bpe.byte_level_ = byte_level;
  NMC_ASSIGN(bpe.ignore_merges_, json_bool(model, "ignore_merges", kBpeModel, false));
  NMC_ASSIGN(bpe.byte_fallback_, json_bool(model, "byte_fallback", kBpeModel, false));
  NMC_ASSIGN(bpe.fuse_unknown_, json_bool(model, "fuse_unk", kBpeModel, false));
  NMC_ASSIGN(std::string unknown, json_string(model, "unk_token", kBpeModel, ""));
  if (!unknown.empty()) {
    auto id = bpe.vocabulary_.find(unknown);
    if (!id) {
      return invalid_argument("tokenizer.json: model.unk_token \"" + unknown +
                              "\" is not in model.vocab");
    }
    bpe.unknown_ = *id;
  }
  for (int byte = 0; byte < 256; ++byte) {
    char c = static_cast<char>(byte);
    std::string name = byte_level ? to_byte_alphabet({&c, 1}) : byte_name(byte);
    bpe.byte_id_[static_cast<size_t>(byte)] = bpe.vocabulary_.find(name).value_or(-1);
  }
  return bpe;
}

bool Bpe::append_bytes(std::string_view bytes, std::vector<int32_t>& ids) const {
  auto id = [&](char c) { return byte_id_[static_cast<uint8_t>(c)]; };
  if (!std::all_of(bytes.begin(), bytes.end(), [&](char c) { return id(c) >= 0; })) return false;
  for (char c : bytes) ids.push_back(id(c));
  return true;
}

void Bpe::first_symbols(std::string_view word, std::vector<int32_t>& ids) const {
  bool after_unknown = false;
  while (!word.empty()) {
    size_t n = byte_level_ ? 1 : decode_front(word).bytes;
    std::string_view symbol = word.substr(0, n);
    word.remove_prefix(n);
    bool known;
    if (auto id = byte_level_ ? std::nullopt : vocabulary_.find(symbol)) {
      ids.push_back(*id);
      known = true;
    } else {
      known = (byte_level_ || byte_fallback_) && append_bytes(symbol, ids);
    }
    // Without an unknown token, what the vocabulary lacks is dropped.
    if (!known && unknown_ >= 0 && !(fuse_unknown_ && after_unknown)) ids.push_back(unknown_);
    after_unknown = !known;
  }
}

bool Bpe::append_whole(std::string_view word, std::vector<int32_t>& out) const {
  auto id = byte_level_ ? vocabulary_.find(to_byte_alphabet(word)) : vocabulary_.find(word);
  if (!id || std::find(markers_.begin(), markers_.end(), *id) != markers_.end()) return false;
  out.push_back(*id);
  return true;
}

// The merge of a symbol with its right neighbour; null if there is none.
const MergeTable::Merge* Bpe::merge_at(size_t position, const Scratch& scratch) const {
  const Scratch::Symbol& left = scratch.symbols[position];
  if (left.next < 0) return nullptr;
  return merges_.find(left.id, scratch.symbols[static_cast<size_t>(left.next)].id);
}

void Bpe::consider(size_t position, Scratch& scratch) const {
  const auto* merge = merge_at(position, scratch);
  if (!merge) return;
  scratch.heap.push_back(uint64_t{merge->rank} << 32 | position);
  std::push_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
}

void Bpe::encode(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const {
  if (ignore_merges_ && append_whole(word, out)) return;
  scratch.ids.clear();
  first_symbols(word, scratch.ids);
  auto n = static_cast<int32_t>(scratch.ids.size());
  std::vector<Scratch::Symbol>& symbols = scratch.symbols;
  symbols.clear();
  for (int32_t i = 0; i < n; ++i)
    symbols.push_back({scratch.ids[static_cast<size_t>(i)], i - 1, i + 1 < n ? i + 1 : -1});

  std::vector<Scratch::Candidate>& heap = scratch.heap;
  heap.clear();
  for (size_t i = 0; i < symbols.size(); ++i) consider(i, scratch);
  while (!heap.empty()) {
    Scratch::Candidate candidate = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    size_t position = candidate & 0xffffffff;
    const auto* merge = merge_at(position, scratch);
    // Stale: one of the two has been merged with something else since.
    if (!merge || merge->rank != candidate >> 32) continue;
    Scratch::Symbol& left = symbols[position];
    Scratch::Symbol& right = symbols[static_cast<size_t>(left.next)];
    left.id = merge->id;
    left.next = right.next;
    right.id = kGone;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = right.previous;
    if (left.previous >= 0) consider(static_cast<size_t>(left.previous), scratch);
    consider(position, scratch);
  }
  for (int32_t i = n > 0 ? 0 : -1; i >= 0; i = symbols[static_cast<size_t>(i)].next)
    out.push_back(symbols[static_cast<size_t>(i)].id);
}

}  // namespace nmc::tok
