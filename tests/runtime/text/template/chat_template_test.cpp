#include "runtime/text/template/chat_template.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/text/template/golden.h"

namespace nmc {
namespace {

TEST(ChatTemplate, ErrorsNameTheLine) {
  EXPECT_EQ(render_text("a\nb\n{{ x.y }}", Json::object()),
            "failed: template line 3: 'x' is undefined");
  EXPECT_EQ(render_text("a\n{% nope %}", Json::object()),
            "failed: template line 2: unknown tag 'nope'");
  EXPECT_EQ(render_text("{{ 1\n+ }}", Json::object()).substr(0, 23), "failed: template line 2");
  EXPECT_EQ(render_text("{% if x %}\n\n{{ y }}", Json::object()),
            "failed: template line 1: a block is not closed with {% endif %}");
}

TEST(ChatTemplate, ARefusalIsTheTemplatesOwnSentence) {
  EXPECT_EQ(render_text("\n\n{{ raise_exception('Take turns.') }}", Json::object()),
            "failed: the chat template refuses this conversation: Take turns.");
}

TEST(ChatTemplate, OtherTemplatesAreOutOfReach) {
  auto compiled = compile_template("{% include '/etc/passwd' %}");
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.status().code(), StatusCode::kUnsupported);
}

TEST(ChatTemplate, KeepsItsSource) {
  auto compiled = compile_template("{{ developer }}\n");
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ((*compiled)->source(), "{{ developer }}\n");
  EXPECT_TRUE((*compiled)->mentions("developer"));
  EXPECT_FALSE((*compiled)->mentions("system"));
}

TEST(ChatTemplate, BrokenBytesBecomeReplacementCharacters) {
  EXPECT_EQ(render_text("a\xff{{ x }}", {{"x", "b\xfe"}}),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
}

TEST(ChatTemplate, ThreadsShareOneTemplate) {
  auto compiled = compile_template(
      "{% set ns = namespace(n=0) %}{% macro m(x) %}{{ x }}{% endmacro %}"
      "{% for i in range(200) %}{% set ns.n = ns.n + i %}{{ m(v) }}{% endfor %}{{ ns.n }}");
  ASSERT_TRUE(compiled.ok());
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < texts.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        auto prompt = (*compiled)->render({{"v", std::to_string(t)}});
        if (prompt.ok()) texts[t] = prompt->text;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (size_t t = 0; t < texts.size(); ++t) {
    EXPECT_EQ(texts[t], std::string(200, static_cast<char>('0' + t)) + "19900");
  }
}

}  // namespace
}  // namespace nmc
