#include "tools/bench/decode_trace.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "runtime/base/file.h"
#include "tools/bench/timeline.h"

namespace nmc::bench {
namespace {

using cuda::DecodeTrace;

struct Spread {
  uint64_t first = ~uint64_t{0}, last = 0;
  double mean = 0;
};

Spread spread(const DecodeTrace& t, int layer, int event) {
  Spread s;
  for (int cta = 0; cta < t.ctas; ++cta) {
    const uint64_t at = t.at(layer, event, cta);
    s.first = std::min(s.first, at);
    s.last = std::max(s.last, at);
    s.mean += static_cast<double>(at) / t.ctas;
  }
  return s;
}

int event_named(const DecodeTrace& t, std::string_view name) {
  return static_cast<int>(std::ranges::find(t.names, name) - t.names.begin());
}

// What a track shows between two events of a layer.
struct Span {
  const char* track;
  const char* name;
  const char* from;
  const char* to;
};
constexpr std::array kSpans = {
    Span{"stream", "keys and values", "keys and values begun", "gate and up begun"},
    Span{"stream", "gate and up", "gate and up begun", "down begun"},
    Span{"consumers", "QKV", "QKV held", "QKV done"},
    Span{"consumers", "attention", "O held", "values done"},
    Span{"consumers", "gate and up", "values done", "gate and up done"},
    Span{"consumers", "O and down", "gate and up done", "down done"},
    Span{"exchange", "x", "logits out", "x seen"},
    Span{"exchange", "route", "logits seen", "experts known"},
    Span{"exchange", "q", "q published", "q seen"},
    Span{"exchange", "attention output", "attention merged", "attention output seen"},
    Span{"exchange", "hidden units", "hidden units published", "hidden units seen"},
};

}  // namespace

std::string layer_summary(const DecodeTrace& t) {
  const int published = event_named(t, "x published");
  std::string text = "us after x was published      first    mean    last\n";
  for (int event = 0; event < t.events; ++event) {
    double first = 0, mean = 0, last = 0;
    // Layer 0 and its successor are left out: they are not like the others.
    for (int layer = 2; layer < t.layers; ++layer) {
      const auto start = static_cast<double>(spread(t, layer - 1, published).last);
      const Spread s = spread(t, layer, event);
      first += (static_cast<double>(s.first) - start) / 1e3 / (t.layers - 2);
      mean += (s.mean - start) / 1e3 / (t.layers - 2);
      last += (static_cast<double>(s.last) - start) / 1e3 / (t.layers - 2);
    }
    char line[128];
    std::snprintf(line, sizeof line, "%-26s %8.1f%8.1f%8.1f\n",
                  t.names[static_cast<size_t>(event)].c_str(), first, mean, last);
    text += line;
  }
  return text;
}

Status write_timeline(const DecodeTrace& t, const std::filesystem::path& path) {
  uint64_t start = ~uint64_t{0};
  for (uint64_t stamp : t.stamps) {
    if (stamp != 0) start = std::min(start, stamp);
  }
  Timeline timeline;
  for (int layer = 0; layer < t.layers; ++layer) {
    for (const Span& span : kSpans) {
      const int from = event_named(t, span.from), to = event_named(t, span.to);
      for (int cta = 0; cta < t.ctas; ++cta) {
        const uint64_t begin = t.at(layer, from, cta), end = t.at(layer, to, cta);
        if (begin == 0 || end < begin) continue;  // this layer has no such event
        timeline.add(cta, span.track, span.name, static_cast<double>(begin - start) / 1e3,
                     static_cast<double>(end - begin) / 1e3, layer);
      }
    }
  }
  return write_file(path, timeline.text());
}

}  // namespace nmc::bench
