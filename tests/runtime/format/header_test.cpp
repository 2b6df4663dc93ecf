// The bytes of the head, each at the offset that docs/format.md gives it.
#include "runtime/format/header.h"

#include <gtest/gtest.h>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "tests/runtime/format/small_model.h"
#include "tests/runtime/model/north_config.h"

namespace nmc {
namespace {

class HeaderTest : public ::testing::Test {
 protected:
  uint64_t u64(uint64_t at) const { return load_le<uint64_t>(head_.bytes.data() + at); }
  uint32_t u32(uint64_t at) const { return load_le<uint32_t>(head_.bytes.data() + at); }
  std::string text(uint64_t at, uint64_t n) const {
    return {reinterpret_cast<const char*>(head_.bytes.data() + at), n};
  }

  const EncodedHeader head_ =
      encode_header(small_model(), Json{{"source", "a test"}},
                    {{"tokenizer.json", std::string(100, 't')}, {"b.txt", "hello"}}, {11, 22, 33});
};

TEST_F(HeaderTest, Preamble) {
  EXPECT_EQ(text(0, 8), "NMCMODEL");
  EXPECT_EQ(u32(8), 1u);
  EXPECT_EQ(u32(12), 0u);
  EXPECT_EQ(u64(16), head_.header.file_bytes);
  EXPECT_EQ(u64(24), 4096u);
  uint64_t json_end = 4096 + u64(32);
  EXPECT_EQ(u64(40), xxh3_64(head_.bytes.data() + 4096, u64(32)));
  EXPECT_EQ(u64(48), (json_end + 63) / 64 * 64);
  EXPECT_EQ(u64(56), 15u);  // 5 tensors of the dense layer, 8 of the sparse one, 2 of the head
  EXPECT_EQ(u64(64), xxh3_64(head_.bytes.data() + u64(48), u64(56) * 256));
  EXPECT_EQ(u64(72), u64(48) + u64(56) * 256);
  EXPECT_EQ(u64(80), 64u + 128);  // "b.txt" and "tokenizer.json", each on 64 bytes
  EXPECT_EQ(u64(88), uint64_t{2} << 20);
  EXPECT_EQ(u64(96), 0u);
  EXPECT_EQ(u64(104), 0u);
  EXPECT_EQ(u64(112), xxh3_64(head_.bytes.data(), 112));
  for (size_t at = 120; at < 4096; ++at) EXPECT_EQ(head_.bytes[at], 0) << at;
}

TEST_F(HeaderTest, Json) {
  auto json = parse_json(text(u64(24), u64(32)), "header");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["format"], "nmc");
  EXPECT_EQ((*json)["version"], 1);
  EXPECT_EQ((*json)["model"], description_to_json(small_model()));
  EXPECT_EQ((*json)["provenance"], (Json{{"source", "a test"}}));
  Json& files = (*json)["files"];
  EXPECT_EQ(files["b.txt"]["offset"], 0);
  EXPECT_EQ(files["b.txt"]["bytes"], 5);
  EXPECT_EQ(files["b.txt"]["xxh3"], xxh3_64("hello", 5));
  EXPECT_EQ(files["tokenizer.json"]["offset"], 64);
  EXPECT_EQ(files["tokenizer.json"]["bytes"], 100);
  EXPECT_EQ(text(u64(72), 5), "hello");
  EXPECT_EQ(text(u64(72) + 64, 100), std::string(100, 't'));
}

TEST_F(HeaderTest, DirectoryEntries) {
  const auto& tensors = head_.header.tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorEntry& t = tensors[i];
    uint64_t at = u64(48) + i * 256;
    EXPECT_EQ(text(at, 128), t.name + std::string(128 - t.name.size(), '\0'));
    EXPECT_EQ(u32(at + 128), 1u);  // BF16
    EXPECT_EQ(u32(at + 132), static_cast<uint32_t>(t.layout));
    EXPECT_EQ(u32(at + 136), static_cast<uint32_t>(t.order));
    EXPECT_EQ(u32(at + 140), t.row_block);
    EXPECT_EQ(u32(at + 144), t.section);
    EXPECT_EQ(u32(at + 148), 0u);
    EXPECT_EQ(u64(at + 152), t.count);
    EXPECT_EQ(u64(at + 160), t.rows);
    EXPECT_EQ(u64(at + 168), t.cols);
    EXPECT_EQ(u64(at + 176), t.padded_rows());
    EXPECT_EQ(u64(at + 184), t.padded_cols());
    EXPECT_EQ(u64(at + 192), t.offset);
    EXPECT_EQ(u64(at + 200), t.bytes());
    EXPECT_EQ(u64(at + 208), i < 3 ? 11 * (i + 1) : 0);
    for (uint64_t j = 216; j < 256; ++j) EXPECT_EQ(head_.bytes[at + j], 0);
  }
}

// One entry in literal numbers: experts.gate_up of layer 1.
TEST_F(HeaderTest, AnEntryByHand) {
  uint64_t at = u64(48) + 8 * 256;
  EXPECT_EQ(text(at, 24), std::string("layers.1.experts.gate_up"));
  EXPECT_EQ(u32(at + 132), 1u);   // tiled
  EXPECT_EQ(u32(at + 136), 1u);   // gate_up
  EXPECT_EQ(u32(at + 144), 1u);   // section
  EXPECT_EQ(u64(at + 152), 3u);   // experts
  EXPECT_EQ(u64(at + 160), 10u);  // 2 x 5 rows
  EXPECT_EQ(u64(at + 168), 72u);
  EXPECT_EQ(u64(at + 176), 16u);
  EXPECT_EQ(u64(at + 184), 128u);
  EXPECT_EQ(u64(at + 200), 3u * 16 * 128 * 2);
}

TEST(HeaderAlignment, SectionsOnTwoMebibytesTensorsOnFourKibibytes) {
  for (const ModelDescription& m : {small_model(), north()}) {
    Header h = encode_header(m, Json::object(), {{"f", std::string(3'000'000, 'x')}}, {}).header;
    uint64_t end = 4096 + 3'000'000;
    uint32_t section = UINT32_MAX;
    for (const TensorEntry& t : h.tensors) {
      uint64_t alignment = t.section == section ? 4096 : 2 << 20;
      EXPECT_EQ(t.offset % alignment, 0u) << t.name;
      EXPECT_GE(t.offset, end) << t.name;
      EXPECT_LT(t.offset, end + alignment + (1 << 20)) << t.name;  // and no holes
      end = t.offset + t.bytes();
      section = t.section;
    }
    EXPECT_EQ(h.file_bytes, (end + 4095) / 4096 * 4096);
  }
}

}  // namespace
}  // namespace nmc
