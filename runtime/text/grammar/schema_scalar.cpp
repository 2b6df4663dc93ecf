#include <cmath>

#include "runtime/text/grammar/counted_text.h"
#include "runtime/text/grammar/pattern.h"
#include "runtime/text/grammar/schema_compiler.h"
#include "runtime/text/grammar/string_format.h"

namespace nmc {
namespace {

// The tighter of two bounds; `sign` is +1 for lower bounds and -1 for upper ones.
void tighten(std::optional<NumberBound>* bound, double* value, double candidate, bool exclusive,
             int sign) {
  bool tighter = !*bound || (candidate - *value) * sign > 0 || (candidate == *value && exclusive);
  if (!tighter) return;
  *bound = NumberBound{Decimal::from_double(candidate), exclusive};
  *value = candidate;
}

}  // namespace

Result<ExprId> SchemaCompiler::compile_string(const Json& schema, const std::string& path) {
  NMC_ASSIGN(auto min, count(schema, "minLength", path));
  NMC_ASSIGN(auto max, count(schema, "maxLength", path));
  bool counted = min.value_or(0) > 0 || max.has_value();
  for (const char* keyword : {"pattern", "format"}) {
    if (!schema.contains(keyword)) continue;
    std::string at = path + "/" + keyword;
    if (counted) {
      const auto text = schema[keyword].is_string() && keyword == std::string("pattern")
                            ? counted_class(schema[keyword].get<std::string>())
                            : std::nullopt;
      if (text && !schema.contains("format")) {
        return counted_characters(*text & CountedClass{.characters = text->characters,
                                                       .min = min.value_or(0),
                                                       .max = max.value_or(kNoLimit)},
                                  at);
      }
      return refuse(at,
                    "it cannot be combined with minLength or maxLength, unless it counts "
                    "characters of one class; put the length into it");
    }
    if (keyword == std::string("pattern") && schema.contains("format"))
      return refuse(at, "it cannot be combined with \"format\"");
    if (!schema[keyword].is_string()) return refuse(at, "a string is expected");
    auto text = schema[keyword].get<std::string>();
    std::string source = text;
    if (keyword == std::string("format")) {
      std::optional<std::string> known = string_format_pattern(text);
      if (!known)
        return refuse(at,
                      "the format \"" + text + "\" is not known; known: " + known_string_formats());
      source = *known;
    }
    Result<ExprId> body = pattern_expression(b_, rules_, source);
    if (!body.ok()) return refuse(at, body.status().message());
    return b_.sequence({b_.literal("\""), *body, b_.literal("\"")});
  }
  if (!counted) return rules_.string();
  for (auto [keyword, value] : {std::pair{"minLength", min}, {"maxLength", max}}) {
    const int64_t most =
        value == max && keyword == std::string("maxLength") ? kMaxTextLength : kMaxCountedMin;
    if (value.value_or(0) > most) {
      return refuse(path + "/" + keyword,
                    "lengths up to " + std::to_string(most) + " can be enforced");
    }
  }
  if (max && *max < min.value_or(0)) return refuse(path + "/minLength", "it exceeds maxLength");
  return b_.sequence(
      {b_.literal("\""), counted_text(b_, "characters of JSON", rules_.any_character(),
                                      min.value_or(0), max.value_or(kNoLimit), b_.literal("\""))});
}

Result<ExprId> SchemaCompiler::counted_characters(const CountedClass& text,
                                                  const std::string& path) {
  if (text.max != kNoLimit && text.max < text.min) return refuse(path, "no length is left");
  if (text.min > kMaxCountedMin || text.max > kMaxCountedMin) {
    return refuse(path, "lengths up to " + std::to_string(kMaxCountedMin) + " can be enforced");
  }
  const ExprId body = b_.repeat(rules_.character(text.characters), text.min, text.max);
  return b_.sequence({b_.literal("\""), body, b_.literal("\"")});
}

Result<ExprId> SchemaCompiler::compile_number(const Json& schema, const std::string& path,
                                              bool integer) {
  std::optional<NumberBound> low, high;
  double low_value = 0, high_value = 0;
  bool bounded = false;
  for (const char* keyword : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) {
    if (!schema.contains(keyword)) continue;
    const Json& value = schema[keyword];
    if (!value.is_number()) return refuse(path + "/" + keyword, "a number is expected");
    auto v = value.get<double>();
    std::string name = keyword;
    bool exclusive = name.starts_with("exclusive");
    bool lower = name.ends_with("inimum");
    bounded = true;
    // Where there are bounds, numbers have up to 19 digits before the point and no exponent: a
    // bound beyond that allows (or forbids) all of them.
    if (std::fabs(v) >= 1e19) {
      if (lower == (v > 0))
        return refuse(path + "/" + keyword, "no number that can be written satisfies it");
      continue;
    }
    tighten(lower ? &low : &high, lower ? &low_value : &high_value, v, exclusive, lower ? 1 : -1);
  }
  if (!bounded) return integer ? rules_.integer() : rules_.number();
  return number_between(b_, low, high, integer);
}

}  // namespace nmc
