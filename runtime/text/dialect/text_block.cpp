#include "runtime/text/dialect/text_block.h"

#include "runtime/base/text.h"

namespace nmc {

void TextBlock::begin() {
  leading_ = true;
  blanks_.clear();
  partial_.clear();
}

void TextBlock::emit(std::string_view text, std::vector<DialectEvent>* out) {
  if (text.empty()) return;
  DialectEvent event;
  event.kind = kind_;
  event.text = text;
  out->push_back(std::move(event));
}

void TextBlock::add(std::string_view text, std::vector<DialectEvent>* out) {
  std::string joined = std::move(partial_) + std::string(text);
  size_t whole = complete_utf8_prefix(joined);
  partial_ = joined.substr(whole);
  std::string_view now = std::string_view(joined).substr(0, whole);
  if (leading_) {
    size_t first = now.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return;
    now.remove_prefix(first);
    leading_ = false;
  }
  size_t last = now.find_last_not_of(kBlanks);
  if (last == std::string_view::npos) {
    blanks_ += now;
    return;
  }
  emit(std::move(blanks_) + std::string(now.substr(0, last + 1)), out);
  blanks_ = now.substr(last + 1);
}

void TextBlock::end(bool keep_blanks, std::vector<DialectEvent>* out) {
  if (!partial_.empty() || keep_blanks) {
    emit(std::move(blanks_) + std::move(partial_), out);
  }
  begin();
}

}  // namespace nmc
