#include "convert/safetensors.h"

#include <gmock/gmock.h>

#include "runtime/base/bytes.h"

namespace nmc {
namespace {

using ::testing::HasSubstr;

std::vector<uint8_t> file_of(std::string header, size_t data_bytes) {
  std::string length(8, '\0');
  store_le<uint64_t>(length.data(), header.size());
  std::string all = length + header + std::string(data_bytes, 'x');
  return {all.begin(), all.end()};
}

// The sentence about a header in front of 8 bytes of data; "" when it is accepted.
std::string error_of(const std::string& header, size_t data_bytes = 8) {
  auto r = read_safetensors_header(file_of(header, data_bytes), "w.safetensors");
  return r.ok() ? "" : r.status().message();
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirData) {
  auto file = file_of(
      R"({"__metadata__":{"a":"b"},
          "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},
          "a":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},
          "none":{"dtype":"I64","shape":[0],"data_offsets":[4,4]}})",
      8);
  auto r = read_safetensors_header(file, "w");
  ASSERT_TRUE(r.ok()) << r.status().message();
  ASSERT_EQ(r->size(), 3u);
  EXPECT_EQ((*r)[0].name, "a");
  EXPECT_EQ((*r)[0].offset, file.size() - 8);
  EXPECT_EQ((*r)[0].bytes, 4u);
  EXPECT_THAT((*r)[0].shape, ::testing::ElementsAre(2, 1));
  EXPECT_EQ((*r)[1].name, "none");
  EXPECT_EQ((*r)[2].dtype, Dtype::kF32);
}

TEST(Safetensors, RefusesHeadersThatLieAboutTheData) {
  for (auto [header, sentence] : {
           std::pair{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                     "claims bytes 4 to 12 of 8"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "claims bytes 8 to 0"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})",
            "claims bytes"},
           {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "F32 [3] cannot fill"},
           {R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,8]}})", "cannot fill"},
           {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]}})",
            "cannot fill"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
            "\"b\" overlaps"},
           {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
            "bytes 0 to 4 before tensor \"a\" belong to no tensor"},
           {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "last 4 bytes"},
       }) {
    EXPECT_THAT(error_of(header), HasSubstr(sentence));
    EXPECT_THAT(error_of(header), HasSubstr("w.safetensors"));
  }
}

TEST(Safetensors, RefusesEntriesThatAreNotTensors) {
  for (auto [header, sentence] : {
           std::pair{R"({"a":3})", "not described by an object"},
           {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "\"dtype\" is missing"},
           {R"({"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})", "unknown dtype \"Q4\""},
           {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "\"shape\""},
           {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "\"shape\""},
           {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})", "shape"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8]}})", "data_offsets"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":"0"}})", "data_offsets"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
            "names \"a\" twice"},
       }) {
    EXPECT_THAT(error_of(header), HasSubstr(sentence));
  }
}

TEST(Safetensors, RefusesWhatIsNoHeader) {
  EXPECT_THAT(error_of("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(std::string("{}\0x", 4)), HasSubstr("zero byte"));
  EXPECT_THAT(error_of(std::string(1 << 20, '[')), HasSubstr("JSON"));
  EXPECT_THAT(error_of("{\"a\":" + std::string(1 << 20, '[')), HasSubstr("nests too deep"));
  std::string wide = "{\"a\":[0";
  for (int i = 0; i < 1000; ++i) wide += ",0";
  EXPECT_THAT(error_of(wide + "]}"), HasSubstr("too many values"));
}

TEST(Safetensors, RefusesTruncatedFiles) {
  auto error = [](std::vector<uint8_t> file) {
    auto r = read_safetensors_header(file, "w");
    return r.ok() ? "" : r.status().message();
  };
  EXPECT_THAT(error({}), HasSubstr("too short"));
  EXPECT_THAT(error({1, 2, 3}), HasSubstr("too short"));
  auto whole = file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(error({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)}), "") << n;
  EXPECT_EQ(error(whole), "");
  std::vector<uint8_t> huge(16, 0xff);
  EXPECT_THAT(error(huge), HasSubstr("claims a header of"));
}

TEST(Safetensors, ManyTensorsTakeLinearTime) {
  std::string header = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}";
  for (int i = 0; i < 200'000; ++i) {
    header += ",\"layer." + std::to_string(i) +
              "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[8,8]}";
  }
  EXPECT_EQ(error_of(header + "}"), "");
}

}  // namespace
}  // namespace nmc
