// Templates with the constructs of well-known models, each with every conversation, against
// Jinja's own output. The North template of the project is one of them.
#include <gtest/gtest.h>

#include "runtime/base/file.h"
#include "tests/runtime/text/template/golden.h"

namespace nmc {
namespace {

class Template : public testing::TestWithParam<const char*> {};

TEST_P(Template, RendersAsJinjaDoes) {
  std::string name = GetParam();
  std::string folder =
      name == "north-mini-code" ? "/models/templates/" : "/tests/runtime/text/template/templates/";
  auto source = read_file(NMC_SOURCE_DIR + folder + name + ".jinja", 1u << 20);
  ASSERT_TRUE(source.ok()) << source.status().message();
  Json conversations = golden_json("conversations.json");
  Json goldens = golden_json("templates/" + name + ".json");
  ASSERT_EQ(goldens.size(), conversations.size());
  for (const auto& [conversation, variables] : conversations.items()) {
    expect_golden(render_text(*source, variables), goldens[conversation], conversation);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Template,
                         testing::Values("chatml", "command3", "deepseek", "gemma", "glm",
                                         "granite", "harmony", "hermes_tools", "legacy_inst",
                                         "llama3", "mistral", "north-mini-code", "phi", "qwen3"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace nmc
