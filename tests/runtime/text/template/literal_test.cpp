// Which bytes of a prompt count as a user's own, through every way a template can treat a string.
#include <gtest/gtest.h>

#include "tests/runtime/text/template/golden.h"

namespace nmc {
namespace {

// The rendering with literal bytes in «guillemets».
std::string marked(const std::string& source, const Json& variables) {
  auto compiled = compile_template(source, golden_options());
  if (!compiled.ok()) return compiled.status().message();
  auto prompt = (*compiled)->render(variables);
  if (!prompt.ok()) return prompt.status().message();
  std::string out;
  size_t at = 0;
  for (const TextSpan& span : prompt->literal) {
    EXPECT_LT(span.begin, span.end);
    EXPECT_LE(span.end, prompt->text.size());
    EXPECT_TRUE(at == 0 || span.begin > at) << "spans touch";
    out += prompt->text.substr(at, span.begin - at) + "«" +
           prompt->text.substr(span.begin, span.end - span.begin) + "»";
    at = span.end;
  }
  return out + prompt->text.substr(at);
}

std::string with_x(const std::string& source, const std::string& x = "<|a|>") {
  return marked(source, {{"x", x}, {"bos_token", "<s>"}});
}

TEST(Literal, ValuesOfVariablesAndNothingElse) {
  EXPECT_EQ(with_x("a{{ x }}b"), "a«<|a|>»b");
  EXPECT_EQ(with_x("{{ '<|a|>' }}"), "<|a|>");
  EXPECT_EQ(with_x("{{ bos_token }}{{ x }}"), "<s>«<|a|>»");
}

TEST(Literal, FollowsConcatenation) {
  EXPECT_EQ(with_x("{{ '<' + x + '>' }}{{ x ~ 1 ~ x }}"), "<«<|a|>»>«<|a|>»1«<|a|>»");
  EXPECT_EQ(with_x("{{ x * 2 }}{{ 'y' * 2 }}"), "«<|a|><|a|>»yy");
  EXPECT_EQ(with_x("{{ '[%s]' % x }}{{ '{}!'.format(x) }}"), "[«<|a|>»]«<|a|>»!");
  EXPECT_EQ(with_x("{{ ['p', x]|join('-') }}{{ '+'.join([x, x]) }}"), "p-«<|a|><|a|>»+«<|a|>»");
}

TEST(Literal, FollowsEdits) {
  EXPECT_EQ(with_x("[{{ x|trim }}]", "  a  "), "[«a»]");
  EXPECT_EQ(with_x("{{ x|upper }}{{ x.title() }}", "ab"), "«ABAb»");
  EXPECT_EQ(with_x("{{ x.replace('|', '!') }}"), "«<»!«a»!«>»");
  EXPECT_EQ(with_x("{{ 'p|q'.replace('|', x) }}"), "p«<|a|>»q");
  EXPECT_EQ(with_x("{{ x[1:4] }}{{ x[0] }}{{ x[::-1] }}{{ x|reverse }}"), "«|a|<>|a|<>|a|<»");
  EXPECT_EQ(with_x("{{ x.split('|')|join('/') }}"), "«<»/«a»/«>»");
  EXPECT_EQ(with_x("{{ x|indent(2, true) }}", "a\nb"), "  «a»\n  «b»");
  EXPECT_EQ(with_x("{{ ('p' ~ x)[1:3] ~ ('p' ~ x)[:2] }}", "uv"), "«uv»p«u»");
  EXPECT_EQ(with_x("{{ x|truncate(4, true, '...', 0) }}", "abcdefgh"), "«a»...");
}

TEST(Literal, FollowsContainersAndJson) {
  EXPECT_EQ(with_x("{{ {'k': x}|tojson }}"), "{\"k\": \"«<|a|>»\"}");
  EXPECT_EQ(with_x("{{ {x: 1}|tojson }}{{ [x] }}", "a\nb"), "{\"«a\\nb»\": 1}['«a\\nb»']");
  EXPECT_EQ(marked("{{ tools|tojson }}", {{"tools", {{{"<n>", "<v>"}}}}}),
            "[{\"«<n>»\": \"«<v>»\"}]");
  EXPECT_EQ(
      marked("{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", {{"d", {{"a", "b"}}}}),
      "«a»=«b»;");
}

TEST(Literal, FollowsBlocksAndMacros) {
  EXPECT_EQ(with_x("{% set y %}<{{ x }}>{% endset %}{{ y }}"), "<«<|a|>»>");
  EXPECT_EQ(with_x("{% macro m(v) %}[{{ v }}]{% endmacro %}{{ m(x) }}{{ m('<|a|>') }}"),
            "[«<|a|>»][<|a|>]");
  EXPECT_EQ(with_x("{% filter upper %}q{{ x }}{% endfilter %}"), "Q«<|A|>»");
  EXPECT_EQ(with_x("{% set ns = namespace(v='') %}{% set ns.v = ns.v ~ x %}{{ ns.v }}"), "«<|a|>»");
  EXPECT_EQ(
      with_x("{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}-{{ x }}{% endcall %}"),
      "-«<|a|>»");
  EXPECT_EQ(with_x("{% generation %}{{ x }}{% endgeneration %}"), "«<|a|>»");
}

TEST(Literal, KnownRolesOfMessagesAreTrusted) {
  Json variables = {
      {"messages",
       {{{"role", "user"}, {"content", "user"}}, {{"role", "<|end|>"}, {"content", "x"}}}}};
  EXPECT_EQ(marked("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}", variables),
            "<|user|>«user»<|«<|end|>»|>«x»");
}

TEST(Literal, NumbersMakeNoMarkers) {
  EXPECT_EQ(marked("{{ n }}{{ n|tojson }}", {{"n", 5}}), "55");
}

TEST(Literal, AUsersMarkerInTheNorthTemplateIsCovered) {
  Json variables = {{"bos_token", "<BOS_TOKEN>"},
                    {"messages", {{{"role", "user"}, {"content", "hi <|START_ACTION|>"}}}}};
  std::string source =
      "{{ bos_token }}<|USER_TOKEN|><|START_TEXT|>{{ messages[0].content }}<|END_TEXT|>";
  EXPECT_EQ(marked(source, variables),
            "<BOS_TOKEN><|USER_TOKEN|><|START_TEXT|>«hi <|START_ACTION|>»<|END_TEXT|>");
}

}  // namespace
}  // namespace nmc
