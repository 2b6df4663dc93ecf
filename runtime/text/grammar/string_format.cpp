#include "runtime/text/grammar/string_format.h"

namespace nmc {
namespace {

// Days that every month has, and those that only some have; 29 February is left out because its
// validity depends on the year.
#define NMC_DATE                                                                         \
  "[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|" \
  "(?:0[13578]|1[02])-31)"
#define NMC_TIME                                                                                  \
  "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-" \
  "5][0-9])"
#define NMC_LABEL "[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?"
#define NMC_BYTE "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"

constexpr struct {
  std::string_view name;
  const char* pattern;
} kFormats[] = {
    {"date", "^" NMC_DATE "$"},
    {"time", "^" NMC_TIME "$"},
    {"date-time", "^" NMC_DATE "T" NMC_TIME "$"},
    {"duration",
     "^P(?:[0-9]{1,6}W|(?:[0-9]{1,6}D)(?:T[0-9]{1,6}H)?|T(?:[0-9]{1,6}H)?[0-9]{1,6}M|T[0-9]{1,6}S)"
     "$"},
    {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    {"email", "^[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@" NMC_LABEL "(?:\\." NMC_LABEL ")+$"},
    {"hostname", "^" NMC_LABEL "(?:\\." NMC_LABEL "){0,6}$"},
    {"ipv4", "^" NMC_BYTE "(?:\\." NMC_BYTE "){3}$"},
    {"ipv6", "^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$"},
    {"uri", "^[a-z][a-z0-9+.-]{0,15}://" NMC_LABEL "(?:\\." NMC_LABEL "){0,6}(?::[0-9]{1,4})?"
            "(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*(?:\\?[A-Za-z0-9._~!$&'()*+,;=:@/"
            "?-]*)?(?:#[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?$"},
};

}  // namespace

const char* string_format_pattern(std::string_view format) {
  for (const auto& f : kFormats) {
    if (f.name == format) return f.pattern;
  }
  return nullptr;
}

std::string known_string_formats() {
  std::string list;
  for (const auto& f : kFormats) list += (list.empty() ? "" : ", ") + std::string(f.name);
  return list;
}

}  // namespace nmc
