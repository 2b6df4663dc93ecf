#include "runtime/text/dialect/call_reader.h"

#include "runtime/base/json.h"

namespace nmc {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The value of a string literal with its quotes; as it is written when its escapes are broken.
std::string decode(const std::string& literal) {
  auto parsed = parse_json(literal, "string");
  if (parsed.ok() && parsed->is_string()) return parsed->get<std::string>();
  return literal.substr(1, literal.size() - 2);
}

}  // namespace

void CallReader::feed(std::string_view text, std::vector<DialectEvent>* out) {
  for (char c : text) step(c, out);
  flush(out);
}

void CallReader::step(char c, std::vector<DialectEvent>* out) {
  switch (state_) {
    case State::kOutside:
      if (c == '{') {
        reset();
        state_ = State::kKey;
      }
      return;
    case State::kKey:
      key_char(c, out);
      return;
    case State::kColon:
      if (c == ':') {
        state_ = State::kValue;
      } else if (c == '}') {
        end_object(out);
      }
      return;
    case State::kValue:
      value_char(c, out);
      return;
    case State::kAfter:
      if (c == ',') state_ = State::kKey;
      if (c == '"') key_char(c, out);  // a comma was forgotten
      if (c == '}') end_object(out);
      return;
  }
}

// Follows a string; `escaped_` is set after a backslash.
bool CallReader::string_char(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    return true;
  }
  return false;
}

void CallReader::key_char(char c, std::vector<DialectEvent>* out) {
  state_ = State::kKey;
  if (!in_string_) {
    if (c == '"') {
      in_string_ = true;
      key_.clear();
    } else if (c == '}') {
      end_object(out);
    }
    return;
  }
  if (!string_char(c)) {
    key_ += c;
    return;
  }
  role_ = Role::kOther;
  if ((key_ == "tool_name" || key_ == "name") && !has_name_) role_ = Role::kName;
  if ((key_ == "tool_call_id" || key_ == "id") && !has_id_) role_ = Role::kId;
  if ((key_ == "parameters" || key_ == "arguments") && !has_arguments_) role_ = Role::kArguments;
  state_ = State::kColon;
  started_ = false;
  depth_ = 0;
  value_.clear();
}

void CallReader::keep(char c) {
  if (role_ != Role::kOther) value_ += c;
}

void CallReader::value_char(char c, std::vector<DialectEvent>* out) {
  if (in_string_) {
    keep(c);
    if (string_char(c) && depth_ == 0) end_value(out);
    return;
  }
  if (!started_) {
    if (is_blank(c)) return;
    started_ = true;
    first_ = c;
    streaming_ = role_ == Role::kArguments && c == '{' && has_name_;
    if (streaming_) begin_call(out);
  }
  bool scalar = depth_ == 0 && first_ != '{' && first_ != '[' && first_ != '"';
  if (scalar && (c == ',' || c == '}' || c == ']' || is_blank(c))) {
    end_value(out);
    step(c, out);
    return;
  }
  keep(c);
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && --depth_ == 0) end_value(out);
}

void CallReader::begin_call(std::vector<DialectEvent>* out) {
  writer_->begin(name_, id_, out);
}

// Gives out what streams. Called at the end of every piece of input.
void CallReader::flush(std::vector<DialectEvent>* out) {
  if (!streaming_) return;
  writer_->arguments(value_, out);
  value_.clear();
}

void CallReader::end_value(std::vector<DialectEvent>* out) {
  state_ = State::kAfter;
  bool is_string = first_ == '"';
  switch (role_) {
    case Role::kOther:
      break;
    case Role::kName:
      has_name_ = is_string && value_.size() > 2;
      if (has_name_) name_ = decode(value_);
      break;
    case Role::kId:
      has_id_ = true;
      id_ = is_string ? decode(value_) : value_;
      break;
    case Role::kArguments:
      has_arguments_ = true;
      flush(out);
      // Some models write the object as a string, or null for none.
      if (!streaming_) held_ = is_string ? decode(value_) : value_ == "null" ? "{}" : value_;
      broken_ = !streaming_ && value_.empty();
      streaming_ = false;
      break;
  }
}

void CallReader::end_object(std::vector<DialectEvent>* out) {
  if (has_name_) {
    if (!writer_->open()) begin_call(out);
    if (!held_.empty()) writer_->arguments(held_, out);
    writer_->end(!broken_, out);
  }
  reset();
}

void CallReader::end_block(std::vector<DialectEvent>* out) {
  flush(out);
  if (writer_->open()) writer_->end(false, out);
  reset();
}

void CallReader::reset() {
  state_ = State::kOutside;
  in_string_ = escaped_ = broken_ = has_name_ = has_id_ = has_arguments_ = streaming_ = false;
  role_ = Role::kOther;
  for (std::string* s : {&key_, &value_, &name_, &id_, &held_}) s->clear();
}

}  // namespace nmc
