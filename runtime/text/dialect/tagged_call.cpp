#include "runtime/text/dialect/tagged_call.h"

#include <cstdio>

#include "runtime/base/json.h"

namespace nmc {
namespace {

// The inside of a JSON string, byte by byte: characters may be cut.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

// The value that a text stands for.
std::string json_of(const std::string& text, ParameterKind kind) {
  auto json = parse_json(text, "a parameter");
  bool as_json = json.ok() && (kind == ParameterKind::kTextOrNull ? json->is_null()
                               : kind == ParameterKind::kUnknown  ? !json->is_string()
                                                                  : true);
  return as_json ? dump_json(*json) : "\"" + escaped(text) + "\"";
}

}  // namespace

void TaggedCallReader::open_function(std::vector<DialectEvent>* out) {
  end_block(true, out);
  state_ = State::kFunction;
  function_.clear();
  keys_.clear();
}

void TaggedCallReader::open_parameter() {
  if (state_ != State::kBetween) return;  // behind the call's end there is no call for it
  state_ = State::kKey;
  key_.clear();
}

void TaggedCallReader::text(std::string_view text, std::vector<DialectEvent>* out) {
  if (state_ == State::kValue) return add_value(text, out);
  if (state_ != State::kFunction && state_ != State::kKey) return;
  std::string& name = state_ == State::kFunction ? function_ : key_;
  const size_t end = text.find('>');
  name += text.substr(0, end);
  if (end == std::string_view::npos) return;
  if (state_ == State::kFunction) {
    writer_->begin(function_, "", out);
    state_ = State::kBetween;
  } else {
    begin_value(out);
  }
  if (end + 1 < text.size()) this->text(text.substr(end + 1), out);
}

void TaggedCallReader::begin_value(std::vector<DialectEvent>* out) {
  state_ = State::kValue;
  kind_ = kind_of_ ? kind_of_(function_, key_) : ParameterKind::kUnknown;
  repeated_ = !keys_.insert(key_).second;
  first_ = true;
  held_.clear();
  json_ = {};
  if (repeated_) return;
  writer_->arguments((keys_.size() == 1 ? "{" : ", ") + dump_json(key_) + ": ", out);
  if (kind_ == ParameterKind::kText) writer_->arguments("\"", out);
}

void TaggedCallReader::add_value(std::string_view text, std::vector<DialectEvent>* out) {
  if (text.empty()) return;
  if (first_ && text[0] == '\n') text.remove_prefix(1);
  first_ = false;
  if (kind_ == ParameterKind::kJson) json_.feed(text);
  held_ += text;
  if (kind_ != ParameterKind::kText) return;
  const size_t whole = held_.size() - (held_.ends_with('\n') ? 1 : 0);
  if (!repeated_) writer_->arguments(escaped(std::string_view(held_).substr(0, whole)), out);
  held_.erase(0, whole);
}

void TaggedCallReader::end_value(std::vector<DialectEvent>* out) {
  if (held_.ends_with('\n')) held_.pop_back();
  state_ = State::kBetween;
  if (repeated_) return;
  writer_->arguments(kind_ == ParameterKind::kText ? "\"" : json_of(held_, kind_), out);
}

void TaggedCallReader::close_parameter(std::vector<DialectEvent>* out) {
  if (state_ == State::kValue) end_value(out);
}

void TaggedCallReader::close_function(std::vector<DialectEvent>* out) {
  if (state_ == State::kBetween) {
    if (!keys_.empty()) writer_->arguments("}", out);
    writer_->end(true, out);
  }
  state_ = State::kOutside;
}

void TaggedCallReader::end_block(bool whole, std::vector<DialectEvent>* out) {
  if (whole && state_ == State::kBetween) close_function(out);
  if (writer_->open()) writer_->end(false, out);
  state_ = State::kOutside;
}

}  // namespace nmc
