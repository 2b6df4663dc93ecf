#include "runtime/text/tokenizer/tokenizer_json.h"

#include <optional>

namespace nmc::tok {
namespace {

constexpr size_t kMaxBytes = 256u << 20;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxMerges = 1 << 23;
// The rest of the document. Its objects are searched linearly, so their width is bounded too.
constexpr size_t kMaxElements = 1'000'000;
constexpr size_t kMaxKeys = 1'000;

// Receives the events of nlohmann's parser. Returning false stops it; `error` says why.
class Reader {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  std::optional<Status> error;
  TokenizerJson out;

  bool null() { return scalar(nullptr); }
  bool boolean(bool v) { return scalar(v); }
  bool number_integer(number_integer_t v) { return mode_ == kVocab ? entry(v) : scalar(v); }
  bool number_unsigned(number_unsigned_t v) {
    // An id too large for a signed number is certainly too large for a vocabulary.
    if (mode_ == kVocab) return entry(v > kMaxTokens ? kMaxTokens : static_cast<int64_t>(v));
    return scalar(v);
  }
  bool number_float(number_float_t v, const string_t&) { return scalar(v); }
  bool string(string_t& v) { return mode_ == kMerges ? merge_string(v) : scalar(std::move(v)); }
  bool binary(binary_t&) { return false; }  // text has none

  bool key(string_t& k) {
    key_ = std::move(k);
    return true;
  }

  bool start_object(size_t) {
    if (mode_ == kVocab) return fail("the ids of \"model.vocab\" must be integers");
    if (mode_ == kMerges) return bad_merge();
    if (in_model() && key_ == "vocab") return enter(kVocab);
    return open(Json::object());
  }
  bool end_object() {
    if (mode_ == kVocab)
      mode_ = kRest;
    else
      stack_.pop_back();
    return true;
  }
  bool start_array(size_t) {
    if (mode_ == kVocab) return fail("the ids of \"model.vocab\" must be integers");
    if (mode_ == kMerges) return in_pair_ ? bad_merge() : start_pair();
    if (in_model() && key_ == "merges") {
      out.has_merges = true;
      return enter(kMerges);
    }
    return open(Json::array());
  }
  bool end_array() {
    if (mode_ == kRest)
      stack_.pop_back();
    else if (in_pair_)
      return end_pair();
    else
      mode_ = kRest;
    return true;
  }

  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) {
    return fail("not valid JSON: error at byte " + std::to_string(at));
  }

 private:
  enum Mode { kRest, kVocab, kMerges };

  bool fail(std::string sentence) {
    if (!error) error = invalid_argument("tokenizer.json: " + std::move(sentence));
    return false;
  }
  bool bad_merge() {
    return fail("\"model.merges[" + std::to_string(out.merges.size()) +
                "]\" must be two tokens, as \"a b\" or as [\"a\", \"b\"]");
  }

  // The next value is a member of the top-level object "model".
  bool in_model() const {
    return stack_.size() == 2 && stack_[1]->is_object() && model_ == stack_[1];
  }
  bool enter(Mode mode) {
    mode_ = mode;
    return true;
  }

  bool entry(int64_t id) {
    if (out.vocab.size() >= static_cast<size_t>(kMaxTokens))
      return fail("\"model.vocab\" has more than " + std::to_string(kMaxTokens) + " entries");
    out.vocab.push_back({std::move(key_), id});
    return true;
  }

  bool merge_string(std::string& v) {
    if (in_pair_) {
      if (pair_size_ == 2) return bad_merge();
      (pair_size_++ == 0 ? pair_.first : pair_.second) = std::move(v);
      return true;
    }
    size_t space = v.find(' ');
    if (space == std::string::npos || v.find(' ', space + 1) != std::string::npos)
      return bad_merge();
    return add_merge({v.substr(0, space), v.substr(space + 1)});
  }
  bool start_pair() {
    in_pair_ = true;
    pair_size_ = 0;
    return true;
  }
  bool end_pair() {
    in_pair_ = false;
    return pair_size_ == 2 ? add_merge(std::move(pair_)) : bad_merge();
  }
  bool add_merge(std::pair<std::string, std::string> pair) {
    if (out.merges.size() >= kMaxMerges)
      return fail("\"model.merges\" has more than " + std::to_string(kMaxMerges) + " entries");
    out.merges.push_back(std::move(pair));
    return true;
  }

  // Puts a value into the innermost open container; null when a limit forbids it.
  Json* place(Json value) {
    if (++elements_ > kMaxElements) {
      fail("more than " + std::to_string(kMaxElements) + " elements besides the vocabulary");
      return nullptr;
    }
    if (stack_.empty()) return &(out.rest = std::move(value));
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    if (parent.size() >= kMaxKeys) {
      fail("the object that holds \"" + key_ + "\" has more than " + std::to_string(kMaxKeys) +
           " keys");
      return nullptr;
    }
    return &(parent[key_] = std::move(value));
  }
  bool scalar(Json value) {
    if (mode_ == kVocab) return fail("the id of \"" + key_ + "\" must be an integer");
    if (mode_ == kMerges) return bad_merge();
    return place(std::move(value)) != nullptr;
  }
  bool open(Json container) {
    if (stack_.size() >= kMaxDepth)
      return fail("nests deeper than " + std::to_string(kMaxDepth) + " levels");
    bool is_model = stack_.size() == 1 && key_ == "model";
    Json* placed = place(std::move(container));
    if (!placed) return false;
    if (is_model) model_ = placed;
    // Parents stay where they are while a child is open: only siblings could move it.
    stack_.push_back(placed);
    return true;
  }

  Mode mode_ = kRest;
  std::vector<Json*> stack_;
  const Json* model_ = nullptr;
  std::string key_;
  size_t elements_ = 0;
  bool in_pair_ = false;
  int pair_size_ = 0;
  std::pair<std::string, std::string> pair_;
};

}  // namespace

Result<TokenizerJson> read_tokenizer_json(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return invalid_argument("tokenizer.json has " + std::to_string(text.size()) +
                            " bytes; at most " + std::to_string(kMaxBytes) + " are accepted");
  }
  Reader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return *reader.error;
  if (!reader.out.rest.is_object())
    return invalid_argument("tokenizer.json: the document must be an object");
  return std::move(reader.out);
}

Result<std::string> component_type(const Json& component, std::string_view where) {
  std::string what = "tokenizer.json: " + std::string(where);
  if (!component.is_object())
    return invalid_argument(what + " must be an object, not " + component.type_name());
  return json_string(component, "type", what);
}

Result<const Json*> json_array(const Json& object, const char* key, std::string_view where) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_array()) {
    return invalid_argument("tokenizer.json: " + std::string(where) + ": the field \"" + key +
                            "\" must be an array");
  }
  return &*it;
}

std::string element_name(std::string_view where, size_t index) {
  return std::string(where) + "[" + std::to_string(index) + "]";
}

}  // namespace nmc::tok
