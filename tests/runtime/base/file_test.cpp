#include "runtime/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace nmc {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "nmc_file_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(FileTest, AMissingFileIsNamed) {
  auto r = MappedFile::open(folder_ / "none");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), StatusCode::kNotFound);
  EXPECT_NE(r.status().message().find("none"), std::string::npos);
}

TEST_F(FileTest, AFolderIsNotAFile) {
  auto r = MappedFile::open(folder_);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().message().find("not a regular file"), std::string::npos);
}

TEST_F(FileTest, AFifoIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  auto r = MappedFile::open(folder_ / "fifo");
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().message().find("not a regular file"), std::string::npos);
}

TEST_F(FileTest, AnEmptyFileMapsToNothing) {
  std::ofstream(folder_ / "empty");
  auto r = MappedFile::open(folder_ / "empty");
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->bytes().empty());
}

TEST_F(FileTest, AnUncommittedFileLeavesNothing) {
  {
    auto f = AtomicFile::create(folder_ / "out");
    ASSERT_TRUE(f.ok());
    uint8_t byte = 7;
    ASSERT_TRUE(f->write_at(0, {&byte, 1}).ok());
    EXPECT_EQ(entries(), 1u);
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(FileTest, ACommittedFileReplacesTheOldOneWhole) {
  ASSERT_TRUE(write_file(folder_ / "out", "old and longer").ok());
  ASSERT_TRUE(write_file(folder_ / "out", "new").ok());
  auto text = read_file(folder_ / "out", 100);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, TwoWritersOfOneFileDoNotMeet) {
  auto one = AtomicFile::create(folder_ / "out"), other = AtomicFile::create(folder_ / "out");
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(entries(), 2u);
  const uint8_t bytes[] = {'1', '2', '3'};
  ASSERT_TRUE(one->write_at(0, bytes).ok());
  ASSERT_TRUE(other->write_at(0, {bytes, 1}).ok());
  ASSERT_TRUE(one->commit().ok());
  EXPECT_EQ(*read_file(folder_ / "out", 100), "123");
  ASSERT_TRUE(other->commit().ok());
  EXPECT_EQ(*read_file(folder_ / "out", 100), "1");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, ReadFileRefusesWhatIsTooLarge) {
  ASSERT_TRUE(write_file(folder_ / "out", "12345").ok());
  EXPECT_FALSE(read_file(folder_ / "out", 4).ok());
}

TEST_F(FileTest, OnlyARegularFileIsReplaced) {
  fs::create_directory(folder_ / "folder");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* name : {"folder", "pipe"}) {
    auto f = AtomicFile::create(folder_ / name);
    ASSERT_FALSE(f.ok());
    EXPECT_NE(f.status().message().find("not a regular file"), std::string::npos);
  }
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FileTest, ALinkKeepsPointingToWhatIsWritten) {
  ASSERT_TRUE(write_file(folder_ / "target", "old").ok());
  fs::create_symlink(folder_ / "target", folder_ / "link");
  ASSERT_TRUE(write_file(folder_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(folder_ / "target", 100), "new");
}

TEST_F(FileTest, CreatingInAMissingFolderSaysSo) {
  auto f = AtomicFile::create(folder_ / "absent" / "out");
  ASSERT_FALSE(f.ok());
  EXPECT_NE(f.status().message().find("absent"), std::string::npos);
}

}  // namespace
}  // namespace nmc
