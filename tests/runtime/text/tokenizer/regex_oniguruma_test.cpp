// Our reading of split patterns against Oniguruma, the engine that Hugging Face's tokenizers use:
// the same matches in the same places, over random text. Built where Debian's libonig-dev is.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "runtime/text/tokenizer/regex.h"
#include "runtime/text/tokenizer/unicode.h"
#include "tests/runtime/text/tokenizer/fixture.h"
#include "tests/runtime/text/tokenizer/oniguruma.h"

namespace nmc::tok {
namespace {

Spans ours(const Regex& regex, const std::string& text, RegexScratch& scratch) {
  Spans out;
  for (size_t from = 0;;) {
    auto m = regex.find(text, from, scratch);
    if (m.outcome != Regex::Outcome::kMatch) return out;
    out.emplace_back(m.begin, m.end);
    from = m.end;
  }
}

// The regular expressions of the Split steps of a tokenizer.
void collect(const Json& step, std::vector<std::string>& out) {
  if (step.contains("pretokenizers"))
    for (const Json& inner : step["pretokenizers"]) collect(inner, out);
  if (step.contains("pattern")) out.push_back(step["pattern"]["Regex"]);
}

std::vector<std::string> patterns() {
  std::vector<std::string> out = {
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", R"(\w+|\W)",
      R"([\w\h]+|[^\S\n]|\n)", R"(\b.|\B.)",
      // DeepSeek's.
      R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
      R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      "[一-龥぀-ゟ゠-ヿ]+", R"(\p{N}{1,3}+|(?:[^\s\p{N}]{2}|\s){1,2}+|{1a)",
      R"(\p{Han}+|\p{Hiragana}|[[:digit:]]+|[[:space:]]|^.|.$)"};
  for (std::string path : {fixture_path("llama3"), fixture_path("qwen"),
                           std::string("models/cohere2moe-nano/tokenizer.json")}) {
    auto json = parse_json(source_file(path), path);
    EXPECT_TRUE(json.ok());
    collect((*json)["pre_tokenizer"], out);
  }
  return out;
}

// The characters that both libraries' Unicode tables agree to be assigned or not: each follows its
// own version of Unicode.
std::vector<uint32_t> common_characters() {
  Oniguruma oracle("\\P{Cn}");
  auto regex = Regex::compile("\\P{Cn}", "test");
  EXPECT_TRUE(oracle.ok() && regex.ok());
  RegexScratch scratch;
  std::vector<uint32_t> out;
  for (uint32_t c = 1; c < 0xe0200; ++c) {
    if (c == 0xd800) c = 0xe000;
    if (c == 0x20000) c = 0xe0000;  // nothing but ideographs and unassigned characters between
    std::string text;
    append_utf8(text, c);
    if (ours(*regex, text, scratch) == oracle.matches(text)) out.push_back(c);
  }
  return out;
}

TEST(RegexOniguruma, TheSameMatchesForEveryCharacterInContext) {
  std::vector<uint32_t> characters = common_characters();
  ASSERT_GT(characters.size(), 120'000u);
  for (const std::string& pattern : patterns()) {
    Oniguruma oracle(pattern);
    ASSERT_TRUE(oracle.ok()) << pattern;
    auto regex = Regex::compile(pattern, "test");
    ASSERT_TRUE(regex.ok()) << regex.status().message();
    RegexScratch scratch;
    for (uint32_t c : characters) {
      std::string text = "a1 '";
      append_utf8(text, c);
      text += "1a ";
      append_utf8(text, c);
      ASSERT_EQ(ours(*regex, text, scratch), oracle.matches(text))
          << pattern << " U+" << std::hex << c;
    }
  }
}

TEST(RegexOniguruma, TheSameMatchesOnRandomText) {
  const uint32_t starts[] = {0x20,   0x20,   0x20,   0x40,   0x60,   0xa0,   0x2b0,   0x300,
                             0x370,  0x430,  0x5d0,  0x660,  0x905,  0xe01,  0x1680,  0x180e,
                             0x2000, 0x2028, 0x2150, 0x3000, 0x4e00, 0xac00, 0x1d7ce, 0x1f44d};
  std::mt19937 random(11);
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t n = random() % 30; n > 0; --n) {
      switch (random() % 6) {
        case 0:
          text += " \n\r\t'/0123456789"[random() % 16];
          break;
        case 1:
          text += std::array{"'s", "'LL", "'\xc5\xbf", "  \n", "123"}[random() % 5];
          break;
        default:
          append_utf8(text, starts[random() % std::size(starts)] + random() % 32);
      }
    }
    texts.push_back(text);
  }
  for (const std::string& pattern : patterns()) {
    Oniguruma oracle(pattern);
    ASSERT_TRUE(oracle.ok()) << pattern;
    auto regex = Regex::compile(pattern, "test");
    ASSERT_TRUE(regex.ok()) << regex.status().message();
    RegexScratch scratch;
    for (const std::string& text : texts)
      ASSERT_EQ(ours(*regex, text, scratch), oracle.matches(text)) << pattern << "\n" << text;
  }
}

}  // namespace
}  // namespace nmc::tok
