#include "kernels/open.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/sequence.h"

namespace nmc::test {
namespace {

TEST(OpenExecutor, OpensByName) {
  auto file = convert_to_model(golden_model("cohere2moe-nano").checkpoint);
  const KvCapacity capacity = capacity_for(file->model(), 64);
  for (const char* device : {"auto", "reference"}) {
    auto executor = open_executor(device, file, capacity);
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    EXPECT_EQ(executor.value()->model(), file->model());
    EXPECT_EQ(executor.value()->kv_capacity().global_pages, capacity.global_pages);
  }
  EXPECT_EQ(open_executor("reference", file, capacity).value()->name(), "reference");
}

TEST(OpenExecutor, AnUnknownNameIsRefusedWithTheList) {
  auto executor = open_executor("tpu", nullptr, {});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(executor.status().message().find("\"tpu\""), std::string::npos);
  EXPECT_NE(executor.status().message().find("reference"), std::string::npos);
}

}  // namespace
}  // namespace nmc::test
