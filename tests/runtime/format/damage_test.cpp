// Damaged and lying heads: an error with a sentence, never a crash, never a wrong header.
#include <gtest/gtest.h>

#include <random>

#include "runtime/format/header.h"
#include "runtime/format/preamble.h"
#include "tests/runtime/format/sealed.h"
#include "tests/runtime/format/small_model.h"

namespace nmc {
namespace {

class DamageTest : public ::testing::Test {
 protected:
  DamageTest() { load(one_layer_model()); }

  void load(const ModelDescription& model) {
    EncodedHeader e =
        encode_header(model, Json{{"a", "b"}}, {{"one", std::string(1000, '1')}, {"two", "6"}}, {});
    good_ = e.bytes;
    good_.resize(e.header.file_bytes);
    head_bytes_ = e.bytes.size();
    directory_ = load_le<uint64_t>(good_.data() + 48);
    ASSERT_TRUE(decode_header(good_, "f").ok());
  }
  Status decode(std::span<const uint8_t> bytes) { return decode_header(bytes, "f").status(); }

  // The status after writing `value` at `at` and signing the head again.
  template <typename T>
  Status lie(uint64_t at, T value) {
    std::vector<uint8_t> bytes = good_;
    store_le(bytes.data() + at, value);
    seal_head(bytes);
    return decode(bytes);
  }
  // The same after replacing a piece of the JSON by one of at most its length.
  Status lie(std::string_view from, std::string to) {
    std::vector<uint8_t> bytes = good_;
    to.resize(from.size(), ' ');
    auto at = std::search(bytes.begin() + 4096, bytes.end(), from.begin(), from.end());
    EXPECT_NE(at, bytes.end()) << from;
    std::copy(to.begin(), to.end(), at);
    seal_head(bytes);
    return decode(bytes);
  }
  void expect_corrupt(const Status& s, const std::string& words) {
    EXPECT_EQ(s.code(), StatusCode::kCorrupt) << s.message();
    EXPECT_NE(s.message().find(words), std::string::npos) << s.message();
    EXPECT_EQ(s.message().find("f"), 0u) << s.message();  // names the file
  }

  std::vector<uint8_t> good_;
  size_t head_bytes_ = 0;
  uint64_t directory_ = 0;
};

TEST_F(DamageTest, EveryFlippedByteBeforeTheEmbeddedFilesIsFound) {
  uint64_t files = load_le<uint64_t>(good_.data() + 72);
  for (size_t at = 0; at < files; ++at) {
    for (int flip : {0x01, 0x20, 0x80, 0xff}) {
      good_[at] ^= static_cast<uint8_t>(flip);
      EXPECT_FALSE(decode(good_).ok()) << "byte " << at;
      good_[at] ^= static_cast<uint8_t>(flip);
    }
  }
}

// The files' own checksums are compared when a file is read, so opening stays quick.
TEST_F(DamageTest, AFlippedByteOfAnEmbeddedFileChangesNothingElse) {
  for (size_t at = load_le<uint64_t>(good_.data() + 72); at < head_bytes_; ++at) {
    good_[at] ^= 1;
    EXPECT_TRUE(decode(good_).ok());
    good_[at] ^= 1;
  }
}

TEST_F(DamageTest, EveryTruncation) {
  std::vector<size_t> lengths;
  for (size_t n = 0; n <= head_bytes_ + 1; ++n) lengths.push_back(n);
  for (size_t n = head_bytes_; n < good_.size(); n += 4095) lengths.push_back(n);
  lengths.push_back(good_.size() - 1);
  for (size_t n : lengths) EXPECT_FALSE(decode({good_.data(), n}).ok()) << n;
  good_.push_back(0);
  expect_corrupt(decode(good_), "cut or extended");
}

// A cut file that claims its own length: now the regions themselves must notice.
TEST_F(DamageTest, EveryTruncationThatLiesAboutTheLength) {
  for (size_t n = 4096; n < good_.size(); n += n < head_bytes_ ? 1 : 4096) {
    std::vector<uint8_t> bytes(good_.begin(), good_.begin() + static_cast<long>(n));
    store_le<uint64_t>(bytes.data() + 16, n);
    seal_head(bytes);
    EXPECT_FALSE(decode(bytes).ok()) << n;
  }
}

TEST_F(DamageTest, AnotherVersionIsNamed) {
  Status s = lie<uint32_t>(8, 2);
  EXPECT_EQ(s.code(), StatusCode::kUnsupported);
  EXPECT_NE(s.message().find("version 2"), std::string::npos);
}

const uint64_t kLies[] = {0,
                          1,
                          63,
                          64,
                          4095,
                          4096,
                          uint64_t{2} << 20,
                          uint64_t{1} << 32,
                          uint64_t{1} << 56,
                          (uint64_t{1} << 63) - 1,
                          uint64_t{1} << 63,
                          ~uint64_t{0} - 255,
                          ~uint64_t{0}};

TEST_F(DamageTest, LyingPreambles) {
  for (uint64_t at : {16, 24, 32, 48, 56, 72, 88}) {
    auto truth = load_le<uint64_t>(good_.data() + at);
    for (uint64_t value : kLies) {
      EXPECT_TRUE(value == truth || !lie(at, value).ok()) << at << " " << value;
      EXPECT_TRUE(value == 0 || !lie(at, truth + value).ok()) << at << " +" << value;
      EXPECT_TRUE(value == 0 || !lie(at, truth - value).ok()) << at << " -" << value;
    }
  }
  for (uint64_t files_bytes : {uint64_t{0}, uint64_t{2} << 20, uint64_t{1} << 63, ~uint64_t{0}})
    EXPECT_FALSE(lie(80, files_bytes).ok()) << files_bytes;
  EXPECT_FALSE(lie<uint8_t>(120, 1).ok());
  EXPECT_FALSE(lie<uint8_t>(4095, 1).ok());
}

TEST_F(DamageTest, LyingDirectories) {
  load(small_model());
  for (uint64_t entry = 0; entry < 15; ++entry) {
    uint64_t at = directory_ + entry * 256;
    EXPECT_FALSE(lie<uint8_t>(at, 'X').ok());
    for (uint64_t field : {128, 132, 136, 140, 144}) {
      auto truth = load_le<uint32_t>(good_.data() + at + field);
      for (uint32_t value : {0u, 1u, 2u, 3u, 4u, 1u << 31, ~0u})
        EXPECT_TRUE(value == truth || !lie(at + field, value).ok()) << field << " " << value;
    }
    for (uint64_t field : {152, 160, 168, 176, 184, 192, 200}) {
      auto truth = load_le<uint64_t>(good_.data() + at + field);
      for (uint64_t value : kLies)
        EXPECT_TRUE(value == truth || !lie(at + field, value).ok()) << field << " " << value;
      EXPECT_FALSE(lie(at + field, truth + 1).ok()) << field;
      EXPECT_FALSE(lie(at + field, truth - 1).ok()) << field;
    }
  }
}

TEST_F(DamageTest, TensorsThatOverlapOrLeaveTheFile) {
  load(small_model());
  uint64_t qkv = directory_ + 256, place = load_le<uint64_t>(good_.data() + qkv + 192);
  expect_corrupt(lie(qkv + 192, place - 4096), "overlaps");
  expect_corrupt(lie(qkv + 192, uint64_t{0}), "overlaps");
  expect_corrupt(lie(qkv + 192, place + 2), "aligned");
  expect_corrupt(lie(qkv + 192, uint64_t{good_.size()}), "outside the file");
  expect_corrupt(lie(qkv + 192, ~uint64_t{0} - 4095), "outside the file");
  uint64_t second_section = directory_ + 5 * 256;
  auto start = load_le<uint64_t>(good_.data() + second_section + 192);
  EXPECT_EQ(start % (2 << 20), 0u);
  expect_corrupt(lie(second_section + 192, start + 4096), "aligned");
}

TEST_F(DamageTest, LyingJson) {
  EXPECT_FALSE(lie("{\"format\"", "[").ok());
  EXPECT_FALSE(lie("\"model\"", "\"mode\"").ok());
  EXPECT_FALSE(lie("\"hidden\":72", "\"hidden\":71").ok());  // other shapes than the directory
  EXPECT_FALSE(lie("\"heads\":4", "\"heads\":3").ok());      // not a multiple
  EXPECT_FALSE(lie("\"vocab\":20", "\"vocab\":1e9").ok());   // not an integer
  EXPECT_FALSE(lie("\"vocab\":20", "\"vocab\":-1").ok());
  EXPECT_FALSE(lie("\"layers\":[{", "\"layers\":[[").ok());
  EXPECT_FALSE(lie("\"cohere2_moe\"", "\"mamba\"").ok());
  EXPECT_FALSE(lie("\"files\":", "\"file\":").ok());
  EXPECT_FALSE(lie("\"files\":{", "\"files\":[").ok());
  expect_corrupt(lie("\"offset\":1024", "\"offset\":9999"), "outside the embedded files");
  expect_corrupt(lie("\"bytes\":1000", "\"bytes\":9999"), "outside the embedded files");
  expect_corrupt(lie("\"bytes\":1000", "\"bytes\":-100"), "files.one");
  expect_corrupt(lie("\"bytes\":1000", "\"bytes\":\"10\""), "files.one");
  EXPECT_FALSE(lie("\"xxh3\"", "\"xxh4\"").ok());
}

// Random damage with valid checksums: whatever is accepted lies inside the file.
TEST_F(DamageTest, RandomLies) {
  load(small_model());
  std::mt19937 random(42);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::pair<size_t, uint8_t>> undo;
    for (size_t n = 1 + below(3); n > 0; --n) {
      size_t at = below(4) == 0 ? below(112) : 4096 + below(head_bytes_ - 4096);
      undo.push_back({at, good_[at]});
      good_[at] = static_cast<uint8_t>(random());
    }
    std::vector<uint8_t> signatures(good_.begin(), good_.begin() + 4096);
    seal_head(good_);
    auto h = decode_header(good_, "f");
    if (h.ok()) {
      ++accepted;
      for (const TensorEntry& t : h->tensors) {
        EXPECT_LE(t.offset, good_.size());
        EXPECT_LE(t.bytes(), good_.size() - t.offset);
      }
      for (const auto& [name, file] : h->files)
        EXPECT_LE(file.bytes, good_.size() - std::min<uint64_t>(good_.size(), file.offset));
    }
    std::copy(signatures.begin(), signatures.end(), good_.begin());
    while (!undo.empty()) {
      good_[undo.back().first] = undo.back().second;
      undo.pop_back();
    }
    seal_head(good_);
  }
  EXPECT_GT(accepted, 0);  // checksums and embedded bytes may change freely
  EXPECT_TRUE(decode(good_).ok());
}

}  // namespace
}  // namespace nmc
