// Templates that try to use more than they may.
#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/text/template/golden.h"

namespace nmc {
namespace {

std::string error_of(const std::string& source, const TemplateLimits& limits = {}) {
  TemplateOptions options = golden_options();
  options.limits = limits;
  auto compiled = compile_template(source, options);
  if (!compiled.ok()) return compiled.status().message();
  auto prompt = (*compiled)->render(Json::object());
  return prompt.ok() ? "" : prompt.status().message();
}

std::string repeat(const std::string& what, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += what;
  return out;
}

TEST(TemplateLimits, Steps) {
  TemplateLimits limits;
  limits.steps = 10'000;
  EXPECT_NE(error_of("{% for i in range(99999) %}{% endfor %}", limits).find("10000 steps"),
            std::string::npos);
  EXPECT_EQ(error_of("{% for i in range(99) %}{% endfor %}", limits), "");
}

TEST(TemplateLimits, Output) {
  TemplateLimits limits;
  limits.output_bytes = 100;
  EXPECT_NE(error_of("{% for i in range(30) %}xxxx{% endfor %}", limits).find("100 bytes"),
            std::string::npos);
}

TEST(TemplateLimits, TextThatDoublesItself) {
  std::string source =
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(60) %}"
      "{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
  EXPECT_NE(error_of(source).find("bytes of text"), std::string::npos);
  EXPECT_NE(error_of("{{ 'aaaa' * 9999999999 }}").find("too often"), std::string::npos);
  EXPECT_NE(error_of("{{ ('a' * 9999999).replace('a', 'b' * 9999999) }}").find("bytes"),
            std::string::npos);
  EXPECT_NE(error_of("{{ 'a'.ljust(99999999999) }}").find("bytes"), std::string::npos);
}

TEST(TemplateLimits, ListsThatDoubleThemselves) {
  std::string source =
      "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% endfor %}";
  EXPECT_NE(error_of(source + "{{ ns.x }}"), "");
  EXPECT_NE(error_of(source + "{{ ns.x|tojson }}"), "");
  EXPECT_NE(error_of(source + "{{ ns.x == [ns.x[0], ns.x[1]] }}"), "");
}

TEST(TemplateLimits, ValuesThatNestForEver) {
  std::string source =
      "{% set ns = namespace(x=1) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}";
  EXPECT_NE(error_of(source).find("nests values"), std::string::npos);
}

TEST(TemplateLimits, ANamespaceThatHoldsItself) {
  EXPECT_EQ(error_of("{% set ns = namespace() %}{% set ns.me = ns %}{% set ns.l = [ns] %}{{ ns }}"),
            "");
}

TEST(TemplateLimits, RecursionOfMacros) {
  EXPECT_NE(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").find("deeper than"),
            std::string::npos);
  EXPECT_NE(error_of("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"), "");
}

TEST(TemplateLimits, DeepSources) {
  for (std::string source :
       {"{{ " + repeat("(", 100'000), "{{ " + repeat("[", 100'000), "{{ " + repeat("not ", 100'000),
        "{{ " + repeat("-", 100'000) + "1 }}", "{{ 1" + repeat(" + 1", 100'000) + " }}",
        "{{ x" + repeat(".a", 100'000) + " }}", "{{ x" + repeat("|a", 100'000) + " }}",
        "{{ x" + repeat("[0]", 100'000) + " }}", "{{ 1" + repeat(" if 1 else 1", 50'000) + " }}",
        repeat("{% if 1 %}", 50'000), repeat("{% for x in y %}", 50'000),
        "{% for " + repeat("(", 100'000),
        "{{ x" + repeat(" is defined", 1) + repeat("()", 50'000)}) {
    EXPECT_NE(error_of(source), "") << source.substr(0, 30);
  }
}

TEST(TemplateLimits, LongSources) {
  TemplateLimits limits;
  limits.source_bytes = 10;
  EXPECT_NE(error_of("0123456789a", limits).find("longer than 10"), std::string::npos);
  // Long is not deep.
  EXPECT_EQ(error_of("{{ 1" + repeat(" ~ 1", 20'000) + " }}"), "");
  EXPECT_EQ(error_of("{% if 0 %}" + repeat("{% elif 0 %}", 20'000) + "{% endif %}"), "");
}

TEST(TemplateLimits, DeepVariables) {
  Json deep = 1;
  for (int i = 0; i < 1000; ++i) deep = Json::array({deep});
  auto compiled = compile_template("{{ x }}");
  ASSERT_TRUE(compiled.ok());
  EXPECT_FALSE((*compiled)->render({{"x", deep}}).ok());
  EXPECT_FALSE((*compiled)->render(Json::array()).ok());
}

}  // namespace
}  // namespace nmc
