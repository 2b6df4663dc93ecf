#include "runtime/text/tokenizer/normalizer.h"

#include <algorithm>

#include "runtime/text/tokenizer/nfc.h"
#include "runtime/text/tokenizer/tokenizer_json.h"

namespace nmc::tok {
namespace {

constexpr double kMaxGrowth = 64;  // a few lines of Replace could turn a page into a terabyte
constexpr size_t kMaxPrepend = 1024;

// Collects the stretches of one step's output with what is known of their origin.
class Builder {
 public:
  Builder(std::string_view source, size_t offset, const LiteralRanges& literal)
      : source_(source), offset_(offset), literal_(literal) {}

  // `before` is a part of the source that became `after`.
  void changed(std::string_view before, std::string_view after) {
    size_t at = out.text.size();
    out.text += after;
    if (literal_.touches(begin(before), begin(before) + before.size()))
      out.literal.add(at, out.text.size());
  }
  void kept(std::string_view part) {
    // Literal and ordinary bytes stay apart where nothing changes.
    size_t run = 0;
    for (size_t i = 0; i < part.size(); i = run) {
      bool is_literal = literal_.touches(begin(part) + i, begin(part) + i + 1);
      run = literal_.run_end(begin(part) + i, begin(part) + part.size()) - begin(part);
      size_t at = out.text.size();
      out.text += part.substr(i, run - i);
      if (is_literal) out.literal.add(at, out.text.size());
    }
  }
  void inserted(std::string_view text) {
    out.literal.add(out.text.size(), out.text.size() + text.size());
    out.text += text;
  }

  Normalizer::Output out;

 private:
  size_t begin(std::string_view part) const {
    return offset_ + static_cast<size_t>(part.data() - source_.data());
  }

  std::string_view source_;
  size_t offset_;  // of the source in the text that `literal_` speaks of
  const LiteralRanges& literal_;
};

}  // namespace

Result<std::string> string_pattern(const Json& component, std::string_view where) {
  std::string what = "tokenizer.json: " + std::string(where);
  auto it = component.find("pattern");
  if (it == component.end() || !it->is_object() || !it->contains("String"))
    return unsupported(what + ": the field \"pattern\" must be {\"String\": ...}");
  NMC_ASSIGN(std::string text, json_string(*it, "String", what + ".pattern"));
  if (text.empty()) return invalid_argument(what + ": the pattern must not be empty");
  return text;
}

Result<Normalizer> Normalizer::build(const Json& component) {
  Normalizer n;
  if (!component.is_null()) NMC_TRY(n.add(component, "normalizer", 0));
  return n;
}

Status Normalizer::add(const Json& component, const std::string& where, int depth) {
  std::string what = "tokenizer.json: " + where;
  NMC_ASSIGN(std::string type, component_type(component, where));
  if (type == "Sequence") {
    if (depth == kMaxComponentNesting) return invalid_argument(what + " nests too deeply");
    NMC_ASSIGN(const Json* list, json_array(component, "normalizers", where));
    for (size_t i = 0; i < list->size(); ++i)
      NMC_TRY(add((*list)[i], element_name(where, i), depth + 1));
  } else if (type == "NFC") {
    steps_.emplace_back(Nfc{});
  } else if (type == "Replace") {
    NMC_ASSIGN(std::string from, string_pattern(component, where));
    NMC_ASSIGN(std::string to, json_string(component, "content", what));
    growth_ *= std::max(1.0, static_cast<double>(to.size()) / static_cast<double>(from.size()));
    if (growth_ > kMaxGrowth)
      return unsupported(what + ": the replacements would lengthen text more than 64-fold");
    steps_.emplace_back(Replace{std::move(from), std::move(to)});
  } else if (type == "Prepend") {
    NMC_ASSIGN(std::string text, json_string(component, "prepend", what));
    if (text.size() > kMaxPrepend) return unsupported(what + ": \"prepend\" is too long");
    steps_.emplace_back(Prepend{std::move(text)});
  } else {
    return unsupported(what + ": the normalizer type \"" + type +
                       "\" is not supported; NFC, Replace, Prepend and Sequence are");
  }
  return {};
}

bool Normalizer::changes(std::string_view text) const {
  bool only_nfc = std::all_of(steps_.begin(), steps_.end(),
                              [](const Step& step) { return std::holds_alternative<Nfc>(step); });
  return !steps_.empty() && (!only_nfc || !surely_nfc(text));
}

Normalizer::Output Normalizer::apply(std::string_view text, size_t offset,
                                     const LiteralRanges& literal) const {
  Output current;
  std::string_view source = text;
  const LiteralRanges* source_literal = &literal;
  for (const Step& step : steps_) {
    Builder b(source, offset, *source_literal);
    if (std::holds_alternative<Nfc>(step)) {
      normalize_nfc(source, [&](std::string_view before, std::string_view after) {
        before == after ? b.kept(before) : b.changed(before, after);
      });
    } else if (auto* replace = std::get_if<Replace>(&step)) {
      size_t at = 0;
      for (size_t hit; (hit = source.find(replace->from, at)) != std::string_view::npos;
           at = hit + replace->from.size()) {
        b.kept(source.substr(at, hit - at));
        b.changed(source.substr(hit, replace->from.size()), replace->to);
      }
      b.kept(source.substr(at));
    } else if (auto* prepend = std::get_if<Prepend>(&step)) {
      if (!source.empty()) b.inserted(prepend->text);
      b.kept(source);
    }
    current = std::move(b.out);
    source = current.text;
    source_literal = &current.literal;
    offset = 0;
  }
  return current;
}

}  // namespace nmc::tok
