#include "tools/bench/decode_trace.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/text.h"
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

// Layer 0 and its successor are left out: they are not like the others.
constexpr int kFirstLayer = 2;

std::string row(const std::string& name, const std::string& values) {
  return name + std::string(name.size() < 26 ? 26 - name.size() : 1, ' ') + values + "\n";
}

// What keeps a CTA's first consumer and its first producer waiting.
std::string wait_summary(const DecodeTrace& t) {
  const int published = event_named(t, "x published");
  const auto layer_us = static_cast<double>(spread(t, t.layers - 1, published).last -
                                            spread(t, kFirstLayer - 1, published).last) /
                        1e3 / (t.layers - kFirstLayer);
  std::string text = row("\nwaits, mean of all", format("  us a layer of %.1f      %%", layer_us));
  for (size_t wait = 0; wait < t.waits.size(); ++wait) {
    double us = 0;
    for (int layer = kFirstLayer; layer < t.layers; ++layer) {
      for (int cta = 0; cta < t.ctas; ++cta) {
        us += static_cast<double>(t.waited(layer, static_cast<int>(wait), cta)) / 1e3 / t.ctas /
              (t.layers - kFirstLayer);
      }
    }
    text += row(t.waits[wait], format("%16.2f%10.1f", us, 100 * us / layer_us));
  }
  return text;
}

// From the last CTA that published something to each that has seen it.
struct Hop {
  const char* name;
  const char* from;
  const char* to;
  int later;  // layers from the one to the other
};
constexpr std::array kHops = {
    Hop{"x", "x published", "x seen", 1},
    Hop{"router's logits", "logits out", "logits seen", 0},
    Hop{"q", "q published", "q seen", 0},
    Hop{"hidden units", "hidden units published", "hidden units seen", 0},
};

std::string hop_summary(const DecodeTrace& t) {
  constexpr std::array kLimits = {0.5, 1.0, 1.5, 2.0, 3.0, 5.0};  // us
  std::string text = "\nhops, us after the last CTA    p50     p90     p99     max";
  text += "    <0.5  <1  <1.5  <2  <3  <5  more, %\n";
  for (const Hop& hop : kHops) {
    const int from = event_named(t, hop.from), to = event_named(t, hop.to);
    if (t.at(kFirstLayer, from, 0) == 0 || t.at(kFirstLayer, to, 0) == 0) continue;
    std::vector<double> us;
    for (int layer = kFirstLayer; layer < t.layers; ++layer) {
      const uint64_t last = spread(t, layer - hop.later, from).last;
      for (int cta = 0; cta < t.ctas; ++cta) {
        const uint64_t seen = t.at(layer, to, cta);
        us.push_back(seen < last ? 0.0 : static_cast<double>(seen - last) / 1e3);
      }
    }
    std::ranges::sort(us);
    const auto at = [&](double q) { return us[static_cast<size_t>(q * double(us.size() - 1))]; };
    std::string line =
        row(hop.name, format("%8.2f%8.2f%8.2f%8.2f   ", at(.5), at(.9), at(.99), us.back()));
    line.pop_back();
    auto begin = us.begin();
    for (size_t i = 0; i <= kLimits.size(); ++i) {
      const auto end = i == kLimits.size() ? us.end() : std::ranges::lower_bound(us, kLimits[i]);
      line += format("%5.0f", 100.0 * double(end - begin) / double(us.size()));
      begin = end;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string layer_summary(const DecodeTrace& t) {
  const int published = event_named(t, "x published");
  std::string text = "us after x was published      first    mean    last\n";
  for (int event = 0; event < t.events; ++event) {
    double first = 0, mean = 0, last = 0;
    if (t.at(kFirstLayer, event, 0) == 0) continue;  // not an event of this kernel
    for (int layer = kFirstLayer; layer < t.layers; ++layer) {
      const auto start = static_cast<double>(spread(t, layer - 1, published).last);
      const Spread s = spread(t, layer, event);
      first += (static_cast<double>(s.first) - start) / 1e3 / (t.layers - kFirstLayer);
      mean += (s.mean - start) / 1e3 / (t.layers - kFirstLayer);
      last += (static_cast<double>(s.last) - start) / 1e3 / (t.layers - kFirstLayer);
    }
    text += row(t.names[static_cast<size_t>(event)], format("%8.1f%8.1f%8.1f", first, mean, last));
  }
  return text + wait_summary(t) + hop_summary(t);
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
