// A traced step of the decode kernel, for people: a table of a layer, and a timeline for Perfetto.
#pragma once

#include <filesystem>
#include <string>

#include "kernels/cuda/decode_meter.h"

namespace nmc::bench {

// Where a layer's time goes: per event the us after the last CTA has published the layer's input,
// of the first CTA, the mean and the last, averaged over the layers; how long consumers and
// producers wait, and for what; how long each kind of message takes, as a histogram.
std::string layer_summary(const cuda::DecodeTrace& trace);

// Trace-event JSON, which ui.perfetto.dev opens: a process for each CTA, in it a track for the
// producer, one for the consumers, and one for the exchanges.
Status write_timeline(const cuda::DecodeTrace& trace, const std::filesystem::path& path);

}  // namespace nmc::bench
