#include "runtime/text/tokenizer/decoder.h"

#include <cctype>

#include "runtime/text/tokenizer/byte_alphabet.h"
#include "runtime/text/tokenizer/normalizer.h"
#include "runtime/text/tokenizer/tokenizer_json.h"

namespace nmc::tok {
namespace {

constexpr size_t kByteNameSize = 6;  // <0x0A>

bool is_byte_name(std::string_view token) {
  return token.size() == kByteNameSize && token.starts_with("<0x") && token.ends_with(">") &&
         std::isxdigit(static_cast<uint8_t>(token[3])) &&
         std::isxdigit(static_cast<uint8_t>(token[4]));
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

Result<Decoder> Decoder::build(const Json& component) {
  Decoder d;
  if (!component.is_null()) NMC_TRY(d.add(component, "decoder", 0));
  return d;
}

Status Decoder::add(const Json& component, const std::string& where, int depth) {
  std::string what = "tokenizer.json: " + where;
  NMC_ASSIGN(std::string type, component_type(component, where));
  if (type == "Sequence") {
    if (depth == kMaxComponentNesting) return invalid_argument(what + " nests too deeply");
    NMC_ASSIGN(const Json* list, json_array(component, "decoders", where));
    for (size_t i = 0; i < list->size(); ++i)
      NMC_TRY(add((*list)[i], element_name(where, i), depth + 1));
  } else if (type == "ByteLevel") {
    byte_level_ = true;
  } else if (type == "ByteFallback") {
    byte_fallback_ = true;
  } else if (type == "Replace") {
    NMC_ASSIGN(std::string from, string_pattern(component, where));
    NMC_ASSIGN(std::string to, json_string(component, "content", what));
    replacements_.emplace_back(std::move(from), std::move(to));
  } else if (type == "Strip") {
    NMC_ASSIGN(std::string content, json_string(component, "content", what));
    NMC_ASSIGN(int64_t start, json_int(component, "start", what, 0));
    NMC_ASSIGN(int64_t stop, json_int(component, "stop", what, 0));
    if (content != " " || start < 0 || stop != 0)
      return unsupported(what + ": only a Strip of spaces at the start is supported");
    strip_leading_ = static_cast<size_t>(start);
  } else if (type != "Fuse") {  // joining the strings is what decoding does anyway
    return unsupported(what + ": the decoder type \"" + type +
                       "\" is not supported; ByteLevel, ByteFallback, Replace, Fuse, Strip and "
                       "Sequence are");
  }
  return {};
}

std::string Decoder::bytes(std::string_view token) const {
  if (byte_level_) return from_byte_alphabet(token).value_or(std::string(token));
  if (byte_fallback_ && is_byte_name(token))
    return std::string(1,
                       static_cast<char>(std::stoi(std::string(token.substr(3, 2)), nullptr, 16)));
  std::string text(token);
  for (const auto& [from, to] : replacements_) replace_all(text, from, to);
  return text;
}

}  // namespace nmc::tok
