#include "runtime/text/dialect/json_answer.h"

namespace nmc {
namespace {

// Characters of numbers, true, false and null.
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
         c == 'E';
}

}  // namespace

size_t JsonAnswer::feed(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (state_ == State::kWord && !is_word(text[i])) state_ = State::kAfter;
    if (state_ == State::kAfter) return i;
    step(text[i]);
  }
  return text.size();
}

void JsonAnswer::step(char c) {
  if (state_ == State::kBefore) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return;
    bool starts_word = c == '-' || c == 't' || c == 'f' || c == 'n' || (c >= '0' && c <= '9');
    state_ = c == '{' || c == '[' || c == '"' ? State::kInside
             : starts_word                    ? State::kWord
                                              : State::kNoJson;
  }
  if (state_ != State::kInside) return;
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  } else if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
  }
  if (!in_string_ && depth_ <= 0) state_ = State::kAfter;
}

}  // namespace nmc
