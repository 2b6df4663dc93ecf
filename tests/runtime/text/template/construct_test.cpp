// Every construct of the language, one short template each, against Jinja's own output.
#include <gtest/gtest.h>

#include "tests/runtime/text/template/golden.h"

namespace nmc {
namespace {

class Construct : public testing::TestWithParam<const char*> {};

TEST_P(Construct, RendersAsJinjaDoes) {
  Json group = golden_json(std::string("constructs/") + GetParam() + ".json");
  ASSERT_TRUE(group.is_object() && !group["cases"].empty());
  for (const Json& test_case : group["cases"]) {
    Json variables = group["variables"];
    if (test_case.contains("variables")) variables.update(test_case["variables"]);
    std::string source = test_case["template"].get<std::string>();
    expect_golden(render_text(source, variables), test_case, source);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Construct,
                         testing::Values("expressions", "filters", "literals", "macros",
                                         "statements", "strings", "tests", "tojson", "undefined",
                                         "white_space"));

}  // namespace
}  // namespace nmc
