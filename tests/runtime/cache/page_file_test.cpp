#include "runtime/cache/page_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tests/support/temporary_folder.h"

namespace nmc {
namespace {

const PageFileOwner kOwner{.identity = "model|layout", .global_bytes = 100, .sliding_bytes = 30};

std::vector<StoredPage> some_pages() {
  std::vector<StoredPage> pages(3);
  pages[0].global = pages[0].sliding = pages[0].important = true;
  pages[1] = {.parent = 0, .used = 7, .sliding_used = 5, .global = true};
  pages[2] = {.parent = 1, .used = 9, .sliding = true};
  for (size_t i = 0; i < pages.size(); ++i) pages[i].tokens.fill(static_cast<int32_t>(i) + 40);
  return pages;
}

uint8_t value(size_t index, KvPool pool) {
  return static_cast<uint8_t>(index * 2 + (pool == KvPool::kGlobal ? 1 : 0));
}

class PageFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto fill = [](size_t i, KvPool pool, std::span<uint8_t> to) {
      std::fill(to.begin(), to.end(), value(i, pool));
      return Status();
    };
    ASSERT_TRUE(write_page_file(path_, kOwner, some_pages(), fill).ok());
    bytes_ = *read_file(path_, 1 << 20);
  }

  Status open(const std::string& bytes, const PageFileOwner& owner = kOwner) {
    std::ofstream(path_, std::ios::binary) << bytes;  // not synced: a thousand of them
    return PageFile::open(path_, owner).status();
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "pages";
  std::string bytes_;
};

TEST_F(PageFileTest, GivesBackWhatWasWritten) {
  auto file = PageFile::open(path_, kOwner);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::vector<StoredPage> expected = some_pages();
  ASSERT_EQ(file->pages().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const StoredPage& p = file->pages()[i];
    EXPECT_EQ(p.parent, expected[i].parent);
    EXPECT_EQ(p.used, expected[i].used);
    EXPECT_EQ(p.sliding_used, expected[i].sliding_used);
    EXPECT_EQ(p.important, expected[i].important);
    EXPECT_EQ(p.tokens, expected[i].tokens);
    EXPECT_EQ(file->bytes(i, KvPool::kGlobal).size(), expected[i].global ? 100u : 0u);
    EXPECT_EQ(file->bytes(i, KvPool::kSliding).size(), expected[i].sliding ? 30u : 0u);
    for (KvPool pool : {KvPool::kGlobal, KvPool::kSliding}) {
      for (uint8_t byte : file->bytes(i, pool)) ASSERT_EQ(byte, value(i, pool));
    }
  }
  EXPECT_EQ(bytes_.size(), kPageFileHead + 3 * kPageFileEntry + 2 * 100 + 2 * 30);
}

TEST_F(PageFileTest, AChangedByteIsFound) {
  // The whole head, and every fifth byte behind it.
  for (size_t i = 0; i < bytes_.size(); i += i < kPageFileHead ? 1 : 5) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    EXPECT_FALSE(open(damaged).ok()) << "byte " << i;
  }
}

TEST_F(PageFileTest, AnyOtherLengthIsFound) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(open(bytes_.substr(0, random() % bytes_.size())).ok());
  EXPECT_FALSE(open("").ok());
  EXPECT_FALSE(open(bytes_ + "x").ok());
}

TEST_F(PageFileTest, AnotherOwnersFileIsForeign) {
  for (const PageFileOwner& other :
       {PageFileOwner{.identity = "other", .global_bytes = 100, .sliding_bytes = 30},
        PageFileOwner{.identity = kOwner.identity, .global_bytes = 99, .sliding_bytes = 30},
        PageFileOwner{.identity = kOwner.identity, .global_bytes = 100, .sliding_bytes = 31}}) {
    EXPECT_EQ(open(bytes_, other).code(), StatusCode::kUnsupported);
  }
  EXPECT_TRUE(open(bytes_).ok());
  EXPECT_EQ(PageFile::open(folder_ / "none", kOwner).status().code(), StatusCode::kNotFound);
}

TEST_F(PageFileTest, AFailedWriteLeavesTheOldFile) {
  auto fail = [](size_t, KvPool, std::span<uint8_t>) { return internal_error("the device"); };
  EXPECT_FALSE(write_page_file(path_, kOwner, some_pages(), fail).ok());
  EXPECT_EQ(*read_file(path_, 1 << 20), bytes_);
}

}  // namespace
}  // namespace nmc
