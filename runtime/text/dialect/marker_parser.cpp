#include "runtime/text/dialect/marker_parser.h"

#include <algorithm>

namespace nmc {
namespace {

// Makes neighbouring pieces of one text, from `first` on, one event.
void merge_pieces(std::vector<DialectEvent>* events, size_t first) {
  using Kind = DialectEvent::Kind;
  size_t kept = first;
  for (size_t i = first; i < events->size(); ++i) {
    DialectEvent& event = (*events)[i];
    bool is_text = event.kind != Kind::kCallBegin && event.kind != Kind::kCallEnd;
    if (is_text && kept > first && (*events)[kept - 1].kind == event.kind) {
      (*events)[kept - 1].text += event.text;
    } else {
      if (kept != i) (*events)[kept] = std::move(event);
      ++kept;
    }
  }
  events->resize(kept);
}

}  // namespace

void MarkerParser::feed(std::string_view piece, std::vector<DialectEvent>* out) {
  if (finished_) return;
  size_t first_event = out->size();
  cut(std::move(held_) + std::string(piece), out);
  merge_pieces(out, first_event);
}

void MarkerParser::cut(const std::string& text_and_markers, std::vector<DialectEvent>* out) {
  held_.clear();
  std::string_view rest = text_and_markers;
  while (!rest.empty()) {
    size_t text = std::min(rest.find('<'), rest.size());
    if (text > 0) {
      on_text(rest.substr(0, text), out);
      rest.remove_prefix(text);
      continue;
    }
    const Marker* found = nullptr;
    bool may_become = false;
    if (!in_data()) {
      for (const Marker& marker : markers()) {
        if (rest.starts_with(marker.text)) found = &marker;
        may_become |= marker.text.starts_with(rest);
      }
    }
    if (found) {
      rest.remove_prefix(found->text.size());
      on_marker(found->id, out);
    } else if (may_become) {
      held_ = rest;
      return;
    } else {
      on_text(rest.substr(0, 1), out);
      rest.remove_prefix(1);
    }
  }
}

void MarkerParser::finish(bool cut, std::vector<DialectEvent>* out) {
  if (finished_) return;
  finished_ = true;
  on_end(held_, cut, out);
}

}  // namespace nmc
