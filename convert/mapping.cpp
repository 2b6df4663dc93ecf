#include "convert/mapping.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "convert/cast.h"
#include "runtime/format/checkpoint_names.h"

namespace nmc {
namespace {

constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kHead = "lm_head.weight";

// The tensors of the other half of an image-and-text model, which a text model does without.
bool is_vision(const std::string& name) {
  for (const char* tower : {"vision_tower.", "multi_modal_projector."}) {
    if (name.starts_with(tower) || name.starts_with(std::string("model.") + tower)) return true;
  }
  return false;
}

// Compares two tensors of equal size without keeping their pages.
bool equal_data(const Checkpoint& c, const CheckpointTensor& a, const CheckpointTensor& b) {
  constexpr uint64_t kStep = 16 << 20;
  for (uint64_t at = 0; at < a.bytes; at += kStep) {
    uint64_t n = std::min(kStep, a.bytes - at);
    bool equal = std::memcmp(a.data + at, b.data + at, n) == 0;
    c.release(a, at, n);
    c.release(b, at, n);
    if (!equal) return false;
  }
  return true;
}

class Mapper {
 public:
  Mapper(const Checkpoint& checkpoint, bool cast) : checkpoint_(checkpoint), cast_(cast) {
    out_.model = checkpoint.model();
  }

  Result<Mapping> run() {
    NMC_TRY(index_names());
    settle_head();
    for (const TensorSpec& spec : expected_tensors(out_.model)) NMC_TRY(map_tensor(spec));
    NMC_TRY(account_for_rest());
    return std::move(out_);
  }

 private:
  Status index_names() {
    for (const CheckpointTensor& t : checkpoint_.tensors()) {
      auto [it, added] = rest_.emplace(plain_name(t.name), &t);
      if (!added) {
        return corrupt("the tensors \"" + it->second->name + "\" and \"" + t.name +
                       "\" mean the same weight; only one may be there");
      }
    }
    return {};
  }

  // A tied model may still carry its head: a copy of the embedding is dropped, anything else means
  // that the model is not tied.
  void settle_head() {
    auto head = rest_.find(kHead), embedding = rest_.find(kEmbedding);
    if (!out_.model.tied_head || head == rest_.end() || embedding == rest_.end()) return;
    const CheckpointTensor &h = *head->second, &e = *embedding->second;
    if (h.dtype == e.dtype && h.shape == e.shape && equal_data(checkpoint_, h, e)) {
      out_.dropped.push_back(h.name);
      rest_.erase(head);
    } else {
      out_.model.tied_head = false;
    }
  }

  Status map_tensor(const TensorSpec& spec) {
    auto& parts = out_.parts.emplace_back();
    for (uint64_t matrix = 0; matrix < spec.count; ++matrix) {
      for (int part = 0; part < part_count(spec); ++part) {
        NMC_ASSIGN(MappedPart found, find(part_places(spec, out_.model, matrix, part)));
        parts.push_back(found);
      }
    }
    return {};
  }

  Result<MappedPart> find(const std::vector<PartPlace>& places) {
    for (const PartPlace& place : places) {
      auto it = rest_.find(place.name);
      if (it == rest_.end()) continue;
      const CheckpointTensor& t = *it->second;
      if (t.shape != place.shape) {
        return corrupt("tensor \"" + t.name + "\" has the shape " + shape_text(t.shape) +
                       ", but config.json asks for " + shape_text(place.shape));
      }
      NMC_TRY(check_dtype(t));
      used_.insert(place.name);
      return MappedPart{&t, place.first_row, place.rows};
    }
    return not_found("the checkpoint has no tensor \"" + places.front().name + "\" of shape " +
                     shape_text(places.front().shape) + ", which config.json asks for");
  }

  Status check_dtype(const CheckpointTensor& t) {
    if (t.dtype == Dtype::kBf16) return {};
    std::string sentence = "tensor \"" + t.name + "\" is " + dtype_name(t.dtype) + ", not BF16";
    if (t.dtype != Dtype::kF16 && t.dtype != Dtype::kF32)
      return unsupported(sentence + "; use the unquantized checkpoint");
    if (!cast_) return unsupported(sentence + "; --cast-bf16 rounds it to BF16");
    out_.casts.insert(t.dtype);
    return {};
  }

  // What no part uses must be known to add nothing.
  Status account_for_rest() {
    std::vector<std::string> unexpected;
    for (const auto& [name, tensor] : rest_) {
      if (used_.contains(name)) continue;
      bool bias = name.ends_with(".bias") || name.ends_with("_bias");
      if (is_vision(name) || name.ends_with("rotary_emb.inv_freq")) {
        out_.dropped.push_back(tensor->name);
      } else if (bias && all_zero(tensor->dtype, tensor->data, tensor->bytes)) {
        out_.dropped.push_back(tensor->name);
      } else if (bias) {
        return unsupported("tensor \"" + tensor->name +
                           "\" is a bias that is not zero; nmc computes no biases, so this "
                           "checkpoint would give other answers than it should");
      } else {
        unexpected.push_back(tensor->name);
      }
    }
    if (unexpected.empty()) return {};
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(unexpected.size(), 5); ++i)
      list += (i ? ", \"" : "\"") + unexpected[i] + "\"";
    if (unexpected.size() > 5) list += ", ...";
    return unsupported("the checkpoint holds " + std::to_string(unexpected.size()) +
                       " tensors that config.json does not explain: " + list);
  }

  const Checkpoint& checkpoint_;
  bool cast_;
  Mapping out_;
  std::map<std::string, const CheckpointTensor*> rest_;  // by plain name
  std::set<std::string> used_;                           // plain names
};

}  // namespace

Result<Mapping> map_checkpoint(const Checkpoint& checkpoint, bool cast_bf16) {
  return Mapper(checkpoint, cast_bf16).run();
}

}  // namespace nmc
