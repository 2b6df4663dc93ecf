// North Mini Code's geometry at full size, as a sparse file: opening must not depend on the size.
#include <chrono>

#include "runtime/format/model_file.h"
#include "runtime/format/model_writer.h"
#include "tests/runtime/format/temp_folder.h"
#include "tests/runtime/model/north_config.h"

namespace nmc {
namespace {

class NorthSizeTest : public TempFolder {};

TEST_F(NorthSizeTest, OpensAtOnce) {
  auto w = ModelWriter::create(folder_ / "north.nmc", north(), Json::object(), {});
  if (!w.ok()) GTEST_SKIP() << "no sparse files here: " << w.status().message();
  ASSERT_TRUE(w->finish().ok());
  auto start = std::chrono::steady_clock::now();
  auto file = ModelFile::open(folder_ / "north.nmc");
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::printf("opened %.1f GB in %.2f ms\n", static_cast<double>(file->header().file_bytes) / 1e9,
              time.count());
  EXPECT_LT(time.count(), 500);  // a few milliseconds; the slack is for a busy machine
  EXPECT_EQ(file->header().tensors.size(), 5u + 48 * 6 + 2);
  // Padding and alignment together cost less than 2 MiB per section.
  EXPECT_GE(file->header().file_bytes, north().parameters() * 2);
  EXPECT_LT(file->header().file_bytes, north().parameters() * 2 + 51 * (uint64_t{2} << 20));
}

}  // namespace
}  // namespace nmc
