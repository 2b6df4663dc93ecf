
#include "runtime/base/json.h"
#include "runtime/base/text.h"
#include "tools/bench/serve.h"

namespace nmc::bench {
namespace {

Json json_of(const Times& t) {
  return {{"p50_ms", t.p50}, {"p95_ms", t.p95}, {"worst_ms", t.worst}};
}

}  // namespace

std::string serve_head() {
  return "| clients | answers | refused | failed | tokens/s | first token ms: p50 | p95 | worst | "
         "gap ms: p50 | p95 | worst |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";
}

std::string serve_row(const ServeLevel& l) {
  return format("| %lld | %lld | %lld | %lld | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |",
                static_cast<long long>(l.clients), static_cast<long long>(l.answers),
                static_cast<long long>(l.refused), static_cast<long long>(l.failed),
                l.tokens_per_second(), l.first_token.p50, l.first_token.p95, l.first_token.worst,
                l.gap.p50, l.gap.p95, l.gap.worst);
}

std::string serve_csv_head() {
  return "clients,answers,refused,failed,tokens,seconds,tokens_per_second,first_token_p50_ms,"
         "first_token_p95_ms,first_token_worst_ms,gap_p50_ms,gap_p95_ms,gap_worst_ms";
}

std::string serve_csv_row(const ServeLevel& l) {
  return format("%lld,%lld,%lld,%lld,%lld,%.3f,%.2f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f",
                static_cast<long long>(l.clients), static_cast<long long>(l.answers),
                static_cast<long long>(l.refused), static_cast<long long>(l.failed),
                static_cast<long long>(l.tokens), l.seconds, l.tokens_per_second(),
                l.first_token.p50, l.first_token.p95, l.first_token.worst, l.gap.p50, l.gap.p95,
                l.gap.worst);
}

std::string serve_json(const ServeLevel& l) {
  return dump_json({{"clients", l.clients},
                    {"answers", l.answers},
                    {"refused", l.refused},
                    {"failed", l.failed},
                    {"tokens", l.tokens},
                    {"seconds", l.seconds},
                    {"tokens_per_second", l.tokens_per_second()},
                    {"first_token", json_of(l.first_token)},
                    {"gap", json_of(l.gap)},
                    {"first_failure", l.first_failure}});
}

}  // namespace nmc::bench
