#include "runtime/text/grammar/string_format.h"

#include <vector>

namespace nmc {
namespace {

// Days that every month has, and those that only some have; 29 February is left out because its
// validity depends on the year.
const std::string kDate =
    "[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|"
    "(?:0[13578]|1[02])-31)";
const std::string kTime =
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?"
    "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
const std::string kLabel = "[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?";
const std::string kByte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const std::string kEscaped = "%[0-9A-Fa-f]{2}";
const std::string kUriText = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|" + kEscaped + ")*";

struct Format {
  std::string name, pattern;
};

const std::vector<Format>& formats() {
  static const std::vector<Format> list = {
      {"date", kDate},
      {"time", kTime},
      {"date-time", kDate + "T" + kTime},
      {"duration",
       "P(?:[0-9]{1,6}W|(?:[0-9]{1,6}D)(?:T[0-9]{1,6}H)?|T(?:[0-9]{1,6}H)?[0-9]{1,6}M|"
       "T[0-9]{1,6}S)"},
      {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
      {"email", "[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@" + kLabel + "(?:\\." + kLabel + ")+"},
      {"hostname", kLabel + "(?:\\." + kLabel + "){0,6}"},
      {"ipv4", kByte + "(?:\\." + kByte + "){3}"},
      {"ipv6", "(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"},
      {"uri", "[a-z][a-z0-9+.-]{0,15}://" + kLabel + "(?:\\." + kLabel +
                  "){0,6}(?::[0-9]{1,5})?(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|" + kEscaped +
                  ")*)*(?:\\?" + kUriText + ")?(?:#" + kUriText + ")?"},
  };
  return list;
}

}  // namespace

std::optional<std::string> string_format_pattern(std::string_view format) {
  for (const Format& f : formats()) {
    if (f.name == format) return "^" + f.pattern + "$";
  }
  return std::nullopt;
}

std::string known_string_formats() {
  std::string list;
  for (const Format& f : formats()) list += (list.empty() ? "" : ", ") + f.name;
  return list;
}

}  // namespace nmc
