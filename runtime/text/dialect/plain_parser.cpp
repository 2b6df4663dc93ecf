#include "runtime/text/dialect/plain_parser.h"

#include "runtime/base/text.h"

namespace nmc {

void PlainParser::feed(std::string_view text, std::vector<DialectEvent>* out) {
  if (finished_) return;
  DialectEvent event;
  event.text = std::move(partial_) + std::string(text);
  size_t whole = complete_utf8_prefix(event.text);
  partial_ = event.text.substr(whole);
  event.text.resize(whole);
  if (!event.text.empty()) out->push_back(std::move(event));
}

void PlainParser::finish(bool, std::vector<DialectEvent>* out) {
  if (!finished_ && !partial_.empty()) {
    DialectEvent event;
    event.text = std::move(partial_);
    out->push_back(std::move(event));
  }
  finished_ = true;
}

}  // namespace nmc
