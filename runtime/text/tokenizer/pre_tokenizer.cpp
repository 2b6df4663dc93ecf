#include "runtime/text/tokenizer/pre_tokenizer.h"

#include <algorithm>

#include "runtime/text/tokenizer/tokenizer_json.h"
#include "runtime/text/tokenizer/unicode.h"

namespace nmc::tok {
namespace {

// ByteLevel's own pattern, from GPT-2.
constexpr const char* kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// When a pattern gives up, this much text becomes one word and matching goes on behind it.
constexpr size_t kGiveUpBytes = 4096;

Result<SplitBehavior> read_behavior(const Json& component, const std::string& what) {
  NMC_ASSIGN(std::string name, json_string(component, "behavior", what));
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return unsupported(what + ": the behavior \"" + name + "\" is not known");
}

// The end of the character that starts at `at`.
size_t next_character(std::string_view text, size_t at) {
  return at + decode_front(text.substr(at)).bytes;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::build(const Json& component) {
  PreTokenizer p;
  if (!component.is_null()) NMC_TRY(p.add(component, "pre_tokenizer", 0));
  return p;
}

Status PreTokenizer::add(const Json& component, const std::string& where, int depth) {
  std::string what = "tokenizer.json: " + where;
  NMC_ASSIGN(std::string type, component_type(component, where));
  if (byte_level_) return unsupported(what + ": a step after ByteLevel is not supported");
  if (type == "Sequence") {
    if (depth == kMaxComponentNesting) return invalid_argument(what + " nests too deeply");
    NMC_ASSIGN(const Json* list, json_array(component, "pretokenizers", where));
    for (size_t i = 0; i < list->size(); ++i)
      NMC_TRY(add((*list)[i], element_name(where, i), depth + 1));
    return {};
  }
  if (type == "Split") return add_split(component, where);
  if (type == "ByteLevel") return add_byte_level(component, where);
  if (type == "Digits") {
    NMC_ASSIGN(bool individual, json_bool(component, "individual_digits", what, false));
    steps_.emplace_back(DigitSplit{individual});
    return {};
  }
  return unsupported(what + ": the pre-tokenizer type \"" + type +
                     "\" is not supported; Split, Digits, ByteLevel and Sequence are");
}

Status PreTokenizer::add_split(const Json& component, const std::string& where) {
  std::string what = "tokenizer.json: " + where;
  NMC_ASSIGN(SplitBehavior behavior, read_behavior(component, what));
  NMC_ASSIGN(bool invert, json_bool(component, "invert", what, false));
  auto it = component.find("pattern");
  bool one_key = it != component.end() && it->is_object() && it->size() == 1;
  if (one_key && it->contains("String")) {
    NMC_ASSIGN(std::string text, json_string(*it, "String", what + ".pattern"));
    if (text.empty()) return invalid_argument(what + ": the pattern must not be empty");
    steps_.emplace_back(StringSplit{std::move(text), behavior, invert});
    return {};
  }
  if (!one_key || !it->contains("Regex")) {
    return invalid_argument(
        what + ": the field \"pattern\" must be {\"String\": ...} or {\"Regex\": ...}");
  }
  NMC_ASSIGN(std::string pattern, json_string(*it, "Regex", what + ".pattern"));
  if (pattern == kDigitGroupsPattern) {
    NMC_ASSIGN(DigitGroups groups, DigitGroups::build());
    steps_.emplace_back(DigitGroupSplit{std::move(groups), behavior, invert});
    return {};
  }
  NMC_ASSIGN(Regex regex, Regex::compile(pattern, where));
  steps_.emplace_back(RegexSplit{std::move(regex), behavior, invert});
  return {};
}

Status PreTokenizer::add_byte_level(const Json& component, const std::string& where) {
  std::string what = "tokenizer.json: " + where;
  NMC_ASSIGN(bool prefix, json_bool(component, "add_prefix_space", what, true));
  NMC_ASSIGN(bool use_regex, json_bool(component, "use_regex", what, true));
  if (prefix) steps_.emplace_back(PrefixSpace{});
  if (use_regex) {
    NMC_ASSIGN(Regex regex, Regex::compile(kByteLevelPattern, where));
    steps_.emplace_back(RegexSplit{std::move(regex), SplitBehavior::kIsolated, false});
  }
  byte_level_ = true;
  return {};
}

void PreTokenizer::split(std::string_view text, Scratch& scratch) const {
  scratch.words.clear();
  scratch.inserted.clear();
  while (!text.empty()) {
    size_t valid = valid_prefix(text);
    size_t first_word = scratch.words.size();
    if (valid > 0) scratch.words.push_back(text.substr(0, valid));
    for (const Step& step : steps_) {
      scratch.previous.assign(scratch.words.begin() + static_cast<std::ptrdiff_t>(first_word),
                              scratch.words.end());
      scratch.words.resize(first_word);
      std::visit(
          [&](const auto& s) {
            for (std::string_view piece : scratch.previous) apply(s, piece, scratch);
          },
          step);
    }
    text.remove_prefix(valid);
    size_t invalid = invalid_prefix(text);
    if (invalid > 0) scratch.words.push_back(text.substr(0, invalid));
    text.remove_prefix(invalid);
  }
}

void PreTokenizer::apply(const RegexSplit& step, std::string_view piece, Scratch& scratch) {
  Splitter splitter(piece, step.behavior, step.invert, scratch.words);
  size_t from = 0;
  bool first = true;
  while (from <= piece.size()) {
    Regex::Match m = step.regex.find(piece, from, scratch.regex);
    if (m.outcome == Regex::Outcome::kNoMatch) break;
    if (m.outcome == Regex::Outcome::kGaveUp) {
      size_t end = from;
      while (end < piece.size() && end < from + kGiveUpBytes) end = next_character(piece, end);
      if (end == from) break;
      m = {Regex::Outcome::kMatch, from, end};
    }
    bool empty = m.begin == m.end;
    // As in Oniguruma's iterator, an empty match right behind another match does not count.
    if (!empty || first || m.begin != from) splitter.match(m.begin, m.end);
    first = false;
    from = m.end;
    if (empty) {
      if (from == piece.size()) break;
      from = next_character(piece, from);
    }
  }
  splitter.finish();
}

void PreTokenizer::apply(const StringSplit& step, std::string_view piece, Scratch& scratch) {
  Splitter splitter(piece, step.behavior, step.invert, scratch.words);
  for (size_t at = 0; (at = piece.find(step.pattern, at)) != std::string_view::npos;
       at += step.pattern.size()) {
    splitter.match(at, at + step.pattern.size());
  }
  splitter.finish();
}

void PreTokenizer::apply(const DigitGroupSplit& step, std::string_view piece, Scratch& scratch) {
  Splitter splitter(piece, step.behavior, step.invert, scratch.words);
  step.groups.match(piece, scratch.regex, splitter);
  splitter.finish();
}

void PreTokenizer::apply(const DigitSplit& step, std::string_view piece, Scratch& scratch) {
  auto behavior = step.individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous;
  Splitter splitter(piece, behavior, false, scratch.words);
  for (size_t at = 0; at < piece.size();) {
    Character c = decode_front(piece.substr(at));
    if (is_number(c.code)) splitter.match(at, at + c.bytes);
    at += c.bytes;
  }
  splitter.finish();
}

void PreTokenizer::apply(const PrefixSpace&, std::string_view piece, Scratch& scratch) {
  if (!piece.starts_with(' ')) piece = scratch.inserted.emplace_back(" " + std::string(piece));
  scratch.words.push_back(piece);
}

}  // namespace nmc::tok
