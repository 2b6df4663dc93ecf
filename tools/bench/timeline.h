// Spans of time as trace-event JSON, which ui.perfetto.dev opens.
#pragma once

#include <string>

#include "runtime/base/json.h"

namespace nmc::bench {

class Timeline {
 public:
  // A span of a process's track, in microseconds.
  void add(int process, const std::string& track, const std::string& name, double begin,
           double length, int layer) {
    events_.push_back({{"ph", "X"},
                       {"pid", process},
                       {"tid", track},
                       {"name", name},
                       {"ts", begin},
                       {"dur", length},
                       {"args", {{"layer", layer}}}});
  }

  std::string text() const { return dump_json({{"traceEvents", events_}}) + "\n"; }

 private:
  Json events_ = Json::array();
};

}  // namespace nmc::bench
