// Writing a model file and reading it back.
#include "runtime/format/model_file.h"

#include <random>

#include "runtime/base/hash.h"
#include "runtime/format/model_writer.h"
#include "tests/runtime/format/small_model.h"
#include "tests/runtime/format/temp_folder.h"

namespace nmc {
namespace {

class ModelFileTest : public TempFolder {
 protected:
  // Random bytes for every tensor, written in reverse order and in two pieces each.
  void write(const ModelDescription& model) {
    auto w = ModelWriter::create(path_, model, Json{{"made", "by a test"}},
                                 {{"tokenizer.json", "{\"a\": 1}"}, {"empty", ""}});
    ASSERT_TRUE(w.ok()) << w.status().message();
    std::mt19937 random(7);
    contents_.resize(w->tensors().size());
    for (size_t i = contents_.size(); i-- > 0;) {
      contents_[i].resize(w->tensors()[i].bytes());
      for (uint8_t& b : contents_[i]) b = static_cast<uint8_t>(random());
      std::span<const uint8_t> all = contents_[i];
      size_t half = all.size() / 2;
      ASSERT_TRUE(w->write(i, half, all.subspan(half)).ok());
      ASSERT_TRUE(w->write(i, 0, all.subspan(0, half)).ok());
      w->set_checksum(i, xxh3_64(all));
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
    ASSERT_TRUE(w->finish().ok());
  }
  void overwrite(uint64_t at, uint8_t byte) {
    std::FILE* f = std::fopen(path_.c_str(), "r+b");
    ASSERT_NE(f, nullptr);
    std::fseek(f, static_cast<long>(at), SEEK_SET);
    std::fputc(byte, f);
    std::fclose(f);
  }

  const std::filesystem::path path_ = folder_ / "model.nmc";
  std::vector<std::vector<uint8_t>> contents_;
};

TEST_F(ModelFileTest, EverythingComesBack) {
  write(small_model());
  auto file = ModelFile::open(path_);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->model(), small_model());
  EXPECT_EQ(file->header().provenance, (Json{{"made", "by a test"}}));
  EXPECT_EQ(file->header().file_bytes, std::filesystem::file_size(path_));
  ASSERT_EQ(file->header().tensors.size(), contents_.size());
  for (size_t i = 0; i < contents_.size(); ++i) {
    const TensorEntry& t = file->header().tensors[i];
    auto bytes = file->bytes(t);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), contents_[i].begin(), contents_[i].end()));
    EXPECT_TRUE(file->check(t).ok());
    EXPECT_EQ(file->find(t.name), &t);
  }
  EXPECT_EQ(file->find("layers.9.norm"), nullptr);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(ModelFileTest, ExpertsLieOneAfterTheOther) {
  write(small_model());
  auto file = ModelFile::open(path_);
  ASSERT_TRUE(file.ok());
  const TensorEntry& t = *file->find("layers.1.experts.down");
  const uint8_t* start = file->bytes(t).data();
  for (uint64_t e = 0; e < 3; ++e)
    EXPECT_EQ(reinterpret_cast<const uint8_t*>(file->matrix(t, e)), start + e * 72 * 64 * 2);
}

TEST_F(ModelFileTest, EmbeddedFiles) {
  write(one_layer_model());
  auto file = ModelFile::open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->has_embedded("tokenizer.json"));
  EXPECT_EQ(file->embedded("tokenizer.json").value(), "{\"a\": 1}");
  EXPECT_EQ(file->embedded("empty").value(), "");
  auto none = file->embedded("chat_template.jinja");
  EXPECT_EQ(none.status().code(), StatusCode::kNotFound);
  EXPECT_NE(none.status().message().find("chat_template.jinja"), std::string::npos);
}

TEST_F(ModelFileTest, ADamagedWeightIsFoundByItsChecksumOnly) {
  write(small_model());
  uint64_t at = ModelFile::open(path_).value().find("layers.1.o")->offset + 100;
  overwrite(at, static_cast<uint8_t>(contents_[10][100] ^ 1));
  auto file = ModelFile::open(path_);
  ASSERT_TRUE(file.ok());
  for (const TensorEntry& t : file->header().tensors) {
    Status s = file->check(t);
    EXPECT_EQ(s.ok(), t.name != "layers.1.o") << t.name;
    EXPECT_EQ(s.message().find("\"layers.1.o\"") != std::string::npos, !s.ok()) << s.message();
  }
}

TEST_F(ModelFileTest, AnUnfinishedWriterLeavesNothing) {
  {
    auto w = ModelWriter::create(path_, small_model(), Json::object(), {});
    ASSERT_TRUE(w.ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ModelFileTest, AModelThatNoReaderTakesIsNotWritten) {
  ModelDescription m = small_model();
  m.eos_tokens = {999};
  auto w = ModelWriter::create(path_, m, Json::object(), {});
  EXPECT_EQ(w.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ModelFileTest, AProvenanceThatNoReaderTakesIsNotWritten) {
  Json deep;
  for (int i = 0; i < 70; ++i) deep = Json::array({deep});
  EXPECT_FALSE(ModelWriter::create(path_, small_model(), deep, {}).ok());
  Json large{{"text", std::string(20 << 20, 'x')}};
  EXPECT_FALSE(ModelWriter::create(path_, small_model(), large, {}).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ModelFileTest, WhatIsNoModelFileSaysSo) {
  for (const char* text : {"", "NMCMODEL", "{\"model_type\": \"cohere2_moe\"}"}) {
    ASSERT_TRUE(write_file(path_, text).ok());
    auto file = ModelFile::open(path_);
    EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(file.status().message().find("model.nmc is not a .nmc model file"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace nmc
