#include "runtime/text/tokenizer/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "runtime/base/json.h"

namespace nmc::tok {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Result<PreTokenizer> build(const std::string& json) {
  auto parsed = parse_json(json, "test");
  EXPECT_TRUE(parsed.ok()) << json;
  return PreTokenizer::build(*parsed);
}

Words split(const std::string& json, std::string_view text) {
  auto p = build(json);
  EXPECT_TRUE(p.ok()) << p.status().message();
  if (!p.ok()) return {};
  PreTokenizer::Scratch scratch;
  p->split(text, scratch);
  return {scratch.words.begin(), scratch.words.end()};
}

std::string build_error(const std::string& json) {
  auto p = build(json);
  return p.ok() ? "" : p.status().message();
}

// A Split on "-" or another regular expression.
std::string split_json(const std::string& behavior, bool invert = false,
                       const std::string& pattern = R"({"Regex":"-"})") {
  return R"({"type":"Split","pattern":)" + pattern + R"(,"behavior":")" + behavior +
         R"(","invert":)" + (invert ? "true" : "false") + "}";
}

std::string regex_json(std::string_view regex) {
  return split_json("Isolated", false, dump_json(Json{{"Regex", regex}}));
}

TEST(Split, HasFiveBehaviors) {
  EXPECT_THAT(split(split_json("Removed"), "a--b-"), ElementsAre("a", "b"));
  EXPECT_THAT(split(split_json("Isolated"), "a--b-"), ElementsAre("a", "-", "-", "b", "-"));
  EXPECT_THAT(split(split_json("MergedWithPrevious"), "a--b-"), ElementsAre("a-", "-", "b-"));
  EXPECT_THAT(split(split_json("MergedWithNext"), "-a--b"), ElementsAre("-a", "-", "-b"));
  EXPECT_THAT(split(split_json("Contiguous"), "a--b-"), ElementsAre("a", "--", "b", "-"));
}

// The example of Hugging Face's documentation (NormalizedString::split), and the same with matches
// and what lies between them exchanged, which is what "invert" means there. @huggingface/tokenizers
// 0.2.0 gives the same for Removed and for Isolated without "invert"; it does not have the other
// ones.
TEST(Split, DoesAsDocumented) {
  const std::string text = "the-final--countdown";
  const Words alone = {"the", "-", "final", "-", "-", "countdown"};
  const Words dash_behind = {"the-", "final-", "-", "countdown"};
  const Words dash_before = {"the", "-final", "-", "-countdown"};
  const Words together = {"the", "-", "final", "--", "countdown"};
  EXPECT_EQ(split(split_json("Removed"), text), (Words{"the", "final", "countdown"}));
  EXPECT_EQ(split(split_json("Removed", true), text), (Words{"-", "-", "-"}));
  EXPECT_EQ(split(split_json("Isolated"), text), alone);
  EXPECT_EQ(split(split_json("Isolated", true), text), alone);
  EXPECT_EQ(split(split_json("MergedWithPrevious"), text), dash_behind);
  EXPECT_EQ(split(split_json("MergedWithPrevious", true), text), dash_before);
  EXPECT_EQ(split(split_json("MergedWithNext"), text), dash_before);
  EXPECT_EQ(split(split_json("MergedWithNext", true), text), dash_behind);
  EXPECT_EQ(split(split_json("Contiguous"), text), together);
  EXPECT_EQ(split(split_json("Contiguous", true), text), together);
}

// The same by the letter of Hugging Face's rule: the text as a list of runs, matches and what lies
// between them, folded from the left, or for MergedWithNext from the right.
struct Run {
  std::string text;
  bool matched;
};

Words folded(std::vector<Run> runs, const std::string& behavior) {
  const bool from_right = behavior == "MergedWithNext";
  if (from_right) std::reverse(runs.begin(), runs.end());
  Words words;
  bool previous = false;
  for (const Run& run : runs) {
    const bool joins = behavior == "Contiguous"                          ? run.matched == previous
                       : behavior == "Isolated" || behavior == "Removed" ? false
                                                                         : run.matched && !previous;
    previous = run.matched;
    if (behavior == "Removed" && run.matched) continue;
    if (joins && !words.empty()) {
      words.back() = from_right ? run.text + words.back() : words.back() + run.text;
    } else {
      words.push_back(run.text);
    }
  }
  if (from_right) std::reverse(words.begin(), words.end());
  return words;
}

// Each "-" of the text, or with `invert` each run without one, is a match.
std::vector<Run> runs_of(std::string_view text, bool invert) {
  std::vector<Run> runs;
  for (char c : text) {
    const bool dash = c == '-';
    if (dash || runs.empty() || runs.back().text.back() == '-') {
      runs.push_back({std::string(1, c), dash != invert});
    } else {
      runs.back().text += c;
    }
  }
  return runs;
}

TEST(Split, EveryBehaviorFoldsRandomTextsByTheRule) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n) text += "a--b"[random() % 4];
    for (const char* behavior :
         {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}) {
      for (bool invert : {false, true}) {
        static std::map<std::string, PreTokenizer> built;
        const std::string json = split_json(behavior, invert);
        if (!built.contains(json)) built.emplace(json, std::move(*build(json)));
        PreTokenizer::Scratch scratch;
        built.at(json).split(text, scratch);
        ASSERT_EQ(Words(scratch.words.begin(), scratch.words.end()),
                  folded(runs_of(text, invert), behavior))
            << behavior << (invert ? " inverted " : " ") << text;
      }
    }
  }
}

TEST(Split, InvertedTheMatchesAreTheWords) {
  std::string letters = R"({"Regex":"[a-z]+"})";
  EXPECT_THAT(split(split_json("Removed", true, letters), "ab-cd!"), ElementsAre("ab", "cd"));
  EXPECT_THAT(split(split_json("MergedWithPrevious", true, letters), "ab-cd!"),
              ElementsAre("ab-", "cd!"));
}

TEST(Split, AStringIsNoRegex) {
  EXPECT_THAT(split(split_json("Isolated", false, R"({"String":"a.c"})"), "abca.c"),
              ElementsAre("abc", "a.c"));
}

TEST(Split, AnEmptyMatchCutsWithoutTakingAnything) {
  EXPECT_THAT(split(regex_json("(?=b)"), "abcb"), ElementsAre("a", "bc", "b"));
  EXPECT_THAT(split(regex_json("x*"), "axb"), ElementsAre("a", "x", "b"));
}

TEST(Split, StepsSeeOnlyTheirPiece) {
  // (?!\S) holds at the end of a piece, whatever the next piece starts with.
  std::string json = R"({"type":"Sequence","pretokenizers":[)" + regex_json("\\d+") + "," +
                     regex_json("\\s+(?!\\S)|\\S+") + "]}";
  EXPECT_THAT(split(json, "a  1"), ElementsAre("a", "  ", "1"));
}

TEST(Digits, OneByOneOrTogether) {
  EXPECT_THAT(split(R"({"type":"Digits","individual_digits":true})", "a12½b"),
              ElementsAre("a", "1", "2", "½", "b"));
  EXPECT_THAT(split(R"({"type":"Digits","individual_digits":false})", "a12½b3"),
              ElementsAre("a", "12½", "b", "3"));
}

TEST(ByteLevel, SplitsAsGpt2Does) {
  EXPECT_THAT(split(R"({"type":"ByteLevel","add_prefix_space":false})", "I've  12 x"),
              ElementsAre("I", "'ve", " ", " 12", " x"));
}

TEST(ByteLevel, PrefixSpaceGoesToEveryPieceThatHasNone) {
  std::string json = R"({"type":"Sequence","pretokenizers":[)" + split_json("Isolated") +
                     R"(,{"type":"ByteLevel","add_prefix_space":true,"use_regex":false}]})";
  EXPECT_THAT(split(json, "a- b"), ElementsAre(" a", " -", " b"));
  EXPECT_THAT(split(json, ""), ElementsAre());
}

TEST(PreTokenizer, NullLeavesOneWord) {
  EXPECT_THAT(split("null", "a b"), ElementsAre("a b"));
}

TEST(PreTokenizer, InvalidBytesAreAWordOfTheirOwn) {
  EXPECT_THAT(split(regex_json(" "), "a\xff\xfe b\xc3"),
              ElementsAre("a", "\xff\xfe", " ", "b", "\xc3"));
}

TEST(PreTokenizer, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(build_error(R"({"type":"Metaspace"})"),
            "tokenizer.json: pre_tokenizer: the pre-tokenizer type \"Metaspace\" is not supported; "
            "Split, Digits, ByteLevel and Sequence are");
  EXPECT_EQ(
      build_error(R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"a"},
                        "behavior":"Sideways"}]})"),
      "tokenizer.json: pre_tokenizer[0]: the behavior \"Sideways\" is not known");
  EXPECT_EQ(build_error(R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},
                        {"type":"Digits"}]})"),
            "tokenizer.json: pre_tokenizer[1]: a step after ByteLevel is not supported");
}

TEST(PreTokenizer, NamesWhatIsMissingOrMalformed) {
  EXPECT_NE(build_error("{}").find("\"type\" is missing"), std::string::npos);
  EXPECT_NE(build_error("[]").find("must be an object"), std::string::npos);
  EXPECT_NE(build_error(R"({"type":"Sequence"})").find("\"pretokenizers\" must be an array"),
            std::string::npos);
  EXPECT_NE(build_error(split_json("Isolated", false, "{}")).find("\"pattern\""),
            std::string::npos);
  EXPECT_NE(build_error(split_json("Isolated", false, R"({"String":""})")).find("not be empty"),
            std::string::npos);
  EXPECT_NE(build_error(regex_json("(")).find("does not compile"), std::string::npos);
  std::string deep = R"({"type":"Digits"})";
  for (int i = 0; i < 20; ++i) deep = R"({"type":"Sequence","pretokenizers":[)" + deep + "]}";
  EXPECT_NE(build_error(deep).find("nests too deeply"), std::string::npos);
}

TEST(PreTokenizer, APatternThatExplodesStillEnds) {
  auto start = std::chrono::steady_clock::now();
  std::string text(20000, 'a');
  Words words = split(regex_json("(a+a+)+[bc]"), text + "!");
  std::string joined;
  for (const auto& w : words) joined += w;
  EXPECT_EQ(joined, text + "!");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace nmc::tok
