#include "tests/runtime/text/tokenizer/oniguruma.h"

#include <oniguruma.h>

namespace nmc::tok {
namespace {

const OnigUChar* bytes(const std::string& s) {
  return reinterpret_cast<const OnigUChar*>(s.data());
}

}  // namespace

struct Oniguruma::State {
  OnigRegex regex = nullptr;
  OnigRegion* region = onig_region_new();
  ~State() {
    onig_region_free(region, 1);
    if (regex) onig_free(regex);
  }
};

Oniguruma::Oniguruma(const std::string& pattern) : state_(std::make_unique<State>()) {
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  onig_initialize(encodings, 1);
  OnigErrorInfo error;
  int rc = onig_new(&state_->regex, bytes(pattern), bytes(pattern) + pattern.size(),
                    ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &error);
  if (rc != ONIG_NORMAL) state_->regex = nullptr;
}

Oniguruma::~Oniguruma() = default;

bool Oniguruma::ok() const {
  return state_->regex != nullptr;
}

Spans Oniguruma::matches(const std::string& text) {
  Spans out;
  const OnigUChar* begin = bytes(text);
  const OnigUChar* end = begin + text.size();
  const OnigUChar* from = begin;
  while (onig_search(state_->regex, begin, end, from, end, state_->region, 0) >= 0) {
    out.emplace_back(state_->region->beg[0], state_->region->end[0]);
    from = begin + out.back().second;
  }
  return out;
}

}  // namespace nmc::tok
