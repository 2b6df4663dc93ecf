#include "tools/bench/decode.h"

#include <cstdio>

#include "kernels/cuda/ceiling.h"
#include "kernels/cuda/copy_ceiling.h"
#include "kernels/cuda/decode_meter.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/model/config.h"
#include "tools/bench/decode_trace.h"

namespace nmc::bench {
namespace {

// What the ceiling reads: many times the L2.
constexpr size_t kCeilingBytes = size_t{16} << 30;
constexpr int kCeilingRepeats = 7;
constexpr uint64_t kMostConfigBytes = 1 << 20;
constexpr double kDatasheetGbs = 4800;  // of an H200 (NVIDIA's datasheet)

void print_head(Format format, const CeilingReport& ceiling) {
  if (format == Format::kCsv) {
    std::printf(
        "device,ceiling_gb_s,batch,depth,us_median,us_p99,tokens_s,experts,step_gb,gb_s,"
        "of_ceiling,of_datasheet\n");
  } else if (format == Format::kMarkdown) {
    std::printf("%s, %d SMs, reads %.0f GB/s (ceiling)\n\n", ceiling.device.c_str(), ceiling.sms,
                ceiling.median_gb_s);
    std::printf(
        "| test | us a step | p99 | tokens/s | experts | GB a step | GB/s | of the ceiling | of "
        "4.8 TB/s |\n|---|---|---|---|---|---|---|---|---|\n");
  }
}

void print_case(const DecodeOptions& o, const CeilingReport& ceiling, const cuda::DecodeCase& c,
                const cuda::DecodeReport& r) {
  const double median = r.step_us[r.step_us.size() / 2];
  const double p99 = r.step_us[(r.step_us.size() * 99 - 1) / 100];
  const double gbs = r.bytes / median / 1e3, tokens = c.rows * 1e6 / median;
  const double of_ceiling = 100 * gbs / ceiling.median_gb_s, of_sheet = 100 * gbs / kDatasheetGbs;
  const auto depth = static_cast<long long>(c.context);
  switch (o.format) {
    case Format::kMarkdown:
      std::printf(
          "| tg%d @ d%lld, batch %d | %.0f | %.0f | %.1f | %.1f | %.2f | %.0f | %.1f %% | %.1f %% "
          "|\n",
          c.steps, depth, c.rows, median, p99, tokens, r.experts, r.bytes / 1e9, gbs, of_ceiling,
          of_sheet);
      break;
    case Format::kCsv:
      std::printf("\"%s\",%.0f,%d,%lld,%.1f,%.1f,%.2f,%.2f,%.4f,%.0f,%.2f,%.2f\n",
                  ceiling.device.c_str(), ceiling.median_gb_s, c.rows, depth, median, p99, tokens,
                  r.experts, r.bytes / 1e9, gbs, of_ceiling, of_sheet);
      break;
    case Format::kJson:
      std::printf("%s\n", dump_json(Json{{"device", ceiling.device},
                                         {"ceiling_gb_s", ceiling.median_gb_s},
                                         {"batch", c.rows},
                                         {"depth", c.context},
                                         {"us_median", median},
                                         {"us_p99", p99},
                                         {"tokens_s", tokens},
                                         {"experts", r.experts},
                                         {"step_bytes", r.bytes},
                                         {"gb_s", gbs}})
                              .c_str());
      break;
  }
  std::fflush(stdout);
}

}  // namespace

Status print_ceiling(Format format) {
  NMC_ASSIGN(const CeilingReport c, measure_read_ceiling(kCeilingBytes, kCeilingRepeats));
  NMC_ASSIGN(const double copies, cuda::measure_copy_ceiling());
  if (format == Format::kJson) {
    std::printf("%s\n", dump_json(Json{{"device", c.device},
                                       {"sms", c.sms},
                                       {"median_gb_s", c.median_gb_s},
                                       {"best_gb_s", c.best_gb_s},
                                       {"copies_gb_s", copies}})
                            .c_str());
  } else {
    std::printf(
        "%s, %d SMs: reads %.0f GB/s (best %.0f); copies %.1f GB/s of pinned memory to it\n",
        c.device.c_str(), c.sms, c.median_gb_s, c.best_gb_s, copies);
  }
  return {};
}

Status run_decode(
    const DecodeOptions& o,
    const std::function<void(int64_t batch, int64_t depth, double tokens_s)>& report) {
  NMC_ASSIGN(const std::string text, read_file(o.geometry, kMostConfigBytes));
  NMC_ASSIGN(const Json config, parse_json(text, o.geometry));
  NMC_ASSIGN(const ModelDescription model, description_from_config(config));
  NMC_ASSIGN(const CeilingReport ceiling, measure_read_ceiling(kCeilingBytes, kCeilingRepeats));
  NMC_ASSIGN(cuda::DecodeMeter meter, cuda::DecodeMeter::create(model));
  print_head(o.format, ceiling);
  for (int64_t depth : o.depths) {
    for (int64_t batch : o.batches) {
      for (int64_t tokens : o.tokens) {
        const cuda::DecodeCase c{.rows = static_cast<int>(batch),
                                 .context = depth,
                                 .steps = static_cast<int>(tokens),
                                 .repeats = static_cast<int>(o.repeats)};
        NMC_ASSIGN(const cuda::DecodeReport r, meter.measure(c));
        print_case(o, ceiling, c, r);
        report(batch, depth, static_cast<double>(batch) * 1e6 / r.step_us[r.step_us.size() / 2]);
      }
    }
  }
  if (o.trace.empty()) return {};
  NMC_ASSIGN(const cuda::DecodeTrace trace,
             meter.trace({.rows = static_cast<int>(o.batches[0]), .context = o.depths[0]}));
  std::printf("\n%s", layer_summary(trace).c_str());
  return write_timeline(trace, o.trace);
}

}  // namespace nmc::bench
