#include "tests/runtime/text/template/golden.h"

#include <gtest/gtest.h>

#include "runtime/base/file.h"

namespace nmc {

Json golden_json(const std::string& path) {
  std::string full = std::string(NMC_SOURCE_DIR) + "/tests/runtime/text/template/" + path;
  auto text = read_file(full, 64u << 20);
  EXPECT_TRUE(text.ok()) << text.status().message();
  auto json = parse_json(text.ok() ? *text : "null", full);
  EXPECT_TRUE(json.ok()) << json.status().message();
  return json.ok() ? *json : Json();
}

TemplateOptions golden_options() {
  TemplateOptions options;
  options.clock = [] {
    std::tm now{};
    now.tm_year = 125;
    now.tm_mon = 2;
    now.tm_mday = 9;
    now.tm_hour = 14;
    now.tm_min = 5;
    now.tm_sec = 7;
    now.tm_wday = 0;
    now.tm_yday = 67;
    return now;
  };
  return options;
}

std::string render_text(const std::string& source, const Json& variables) {
  auto compiled = compile_template(source, golden_options());
  if (!compiled.ok()) return "failed: " + compiled.status().message();
  auto prompt = (*compiled)->render(variables);
  return prompt.ok() ? prompt->text : "failed: " + prompt.status().message();
}

void expect_golden(const std::string& text, const Json& golden, const std::string& what) {
  if (golden.contains("fails")) {
    EXPECT_EQ(text.substr(0, 8), "failed: ") << what << "\nJinja: " << golden["fails"];
  } else {
    EXPECT_EQ(text, golden["expect"].get<std::string>()) << what;
  }
}

}  // namespace nmc
