// Masks inside runs (run.h) equal their definition, also where a run alone does not decide.
#include <gtest/gtest.h>

#include <set>

#include "runtime/text/grammar/gbnf.h"
#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/local_mask.h"
#include "runtime/text/grammar/schema.h"

namespace nmc {
namespace {

// Every byte, every string of up to three pieces and of four plain ones: more than half is plain.
std::shared_ptr<const GrammarVocabulary> dense_vocabulary() {
  static const auto vocabulary = [] {
    std::set<std::string> made;
    for (int b = 0; b < 255; ++b) made.insert(std::string(1, static_cast<char>(b)));
    const std::vector<std::string> pieces = {"a", "b", "-", "é", "Z", "\""};
    std::vector<std::string> last = {""};
    for (int length = 1; length <= 4; ++length) {
      std::vector<std::string> next;
      for (const std::string& front : last) {
        for (const std::string& piece : pieces) {
          if (length < 4 || (front + piece).find('"') == std::string::npos)
            next.push_back(front + piece);
        }
      }
      made.insert(next.begin(), next.end());
      last = std::move(next);
    }
    made.insert(std::string(40, 'a'));
    std::vector<std::string> spellings(made.begin(), made.end());
    spellings.push_back("");  // ends a text
    const auto end = static_cast<int32_t>(spellings.size()) - 1;
    return std::make_shared<const GrammarVocabulary>(spellings, std::vector<int32_t>{end});
  }();
  return vocabulary;
}

std::vector<uint32_t> dense_mask(const std::shared_ptr<Grammar>& grammar, const std::string& text) {
  const GrammarVocabulary& vocabulary = *dense_vocabulary();
  std::vector<uint32_t> mask(vocabulary.trie().mask_words(), 0);
  for (int32_t t = 0; t < static_cast<int32_t>(vocabulary.trie().vocab_size()); ++t) {
    GrammarMatcher m(grammar);
    m.accept_bytes(text);
    bool end = t == vocabulary.end_tokens()[0];
    if (end ? m.can_end() : m.accept_token(t)) allow_token(mask, t);
  }
  return mask;
}

void expect_exact(const std::string& name, const std::shared_ptr<Grammar>& grammar,
                  const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    GrammarMatcher m(grammar);
    ASSERT_EQ(m.accept_bytes(prefix), prefix.size()) << name << ": " << prefix;
    std::vector<uint32_t> mask(dense_vocabulary()->trie().mask_words());
    m.fill_mask(mask);
    EXPECT_EQ(mask, dense_mask(grammar, prefix)) << name << ": " << prefix;
  }
}

TEST(Run, MasksOfTextGrammarsAreExact) {
  struct Case {
    const char* grammar;
    std::vector<std::string> prefixes;
  };
  const std::string many(30, 'a');
  for (const Case& c : std::vector<Case>{
           {R"(root ::= "\"" [a-zA-Z-]{1,64} "\"")",
            {"\"", "\"a", "\"" + many, "\"" + many + many}},
           {R"(root ::= "\"" [a-zA-Z-]{10,12} "\"")", {"\"", "\"aaaaaaaaa", "\"aaaaaaaaaaa"}},
           {R"(root ::= [a-zA-Z-]{2,40})", {"", "a", "ab", many, many + "aaaaaaaaa"}},
           {R"(root ::= x "-" x
               x ::= [a-zA-Z]{0,20})",
            {"", "a", "a-", "a-aaaaaaaaaaaaaaaaaa"}},
           {R"(root ::= x "-" x
               x ::= [a-zA-Z-]{0,20})",
            {"", "a", "a-", "a-aaaaaaaaaaaaaaaaaa"}},
           {R"(root ::= [a-z]{0,30} "ab" [a-zA-Z]{0,30} "!")", {"", "a", "ab", "abab", many}},
           {R"(root ::= ([a-zA-Z]{1,20} "-"){1,20} "!")", {"", "a", "a-", "a-aaaaaaaaaaaaaaaaaaa"}},
           {R"(root ::= [a-z]{0,20} [a-zA-Z-]{0,20} "\"")", {"", "a", "aZ", many}},
           {R"(root ::= "\"" [^"]* "\"")", {"", "\"", "\"a", "\"\xc3"}},
           {R"(root ::= "\"" [^"-]{0,20} "\"")", {"\"", "\"aé", "\"\xc3", "\"aaaaaaaaaaaaaaaaaaé"}},
           {R"(root ::= ([a-zA-Z]{3}){2,40} "\"")", {"", "a", "aa", "aaa", many}},
           {R"(root ::= ("ab" | [a-zA-Z])* "\"")", {"", "a", "ab"}},
       }) {
    GrammarBuilder b;
    auto root = parse_gbnf(b, c.grammar);
    ASSERT_TRUE(root.ok()) << root.status().message();
    auto grammar = Grammar::compile(b, *root, dense_vocabulary());
    ASSERT_TRUE(grammar.ok()) << grammar.status().message();
    expect_exact(c.grammar, *grammar, c.prefixes);
  }
}

TEST(Run, MasksOfSchemasAreExact) {
  struct Case {
    const char* schema;
    std::vector<std::string> prefixes;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"type": "string", "maxLength": 5})", {"", "\"", "\"aé", "\"aaaa", "\"aaaaa"}},
           {R"({"type": "string", "minLength": 3, "maxLength": 30})",
            {"\"", "\"a", "\"aaa", "\"aaa\\", "\"aaa\\u00", "\"aa\xc3"}},
           {R"({"type": "string", "minLength": 300, "maxLength": 900})",
            {"\"", "\"a", "\"" + std::string(298, 'a'), "\"" + std::string(898, 'a')}},
           {R"({"pattern": "^.{1,30}$"})", {"\"", "\"a", "\"" + std::string(29, 'a')}},
           {R"({"type": "object", "required": ["ab"], "properties": {"ab": {}, "é-": {}}})",
            {"{\"", "{\"a", "{\"ab", "{\"ab\":1,\"", "{\"ab\":1,\"é", "{\"ab\":1,\"\xc3"}},
       }) {
    GrammarBuilder b;
    JsonRules rules(b);
    auto root = schema_expression(b, rules, Json::parse(c.schema), "schema");
    ASSERT_TRUE(root.ok()) << root.status().message();
    auto grammar = Grammar::compile(b, b.rule("root", *root), dense_vocabulary());
    ASSERT_TRUE(grammar.ok()) << grammar.status().message();
    expect_exact(c.schema, *grammar, c.prefixes);
  }
}

std::optional<RunClass> class_of(const char* character) {
  GrammarBuilder b;
  auto root = parse_gbnf(b, std::string("root ::= ") + character);
  auto machine = compile_machine(b, *root);
  return make_run_class(machine->states);
}

TEST(Run, OnlyWhatCanBeCountedIsAClass) {
  EXPECT_TRUE(class_of("[a-zA-Z]"));
  EXPECT_TRUE(class_of("[^\"]"));
  EXPECT_TRUE(class_of("[a-zA-Z] \"-\""));
  EXPECT_FALSE(class_of("[a-zA-Z] \"-\"?"));  // one begins another
  EXPECT_FALSE(class_of("[a-zA-Z]?"));        // may be nothing
  EXPECT_FALSE(class_of("[0-9]"));            // few bytes
}

TEST(Run, TokensAreCountedByCharacters) {
  const std::vector<std::string> spellings = {"a", "aé", "é\xc3", "a\"", "aaaa", "\xa9"};
  const TokenTrie trie(spellings);
  const RunTokens tokens(trie, plain_run_class());
  const std::vector<std::set<int>> expected = {{}, {0}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2, 4}};
  for (size_t characters = 0; characters < expected.size(); ++characters) {
    std::vector<uint32_t> mask(1);
    tokens.add_to(mask, static_cast<int>(characters));
    for (int32_t t = 0; t < 6; ++t) EXPECT_EQ(is_allowed(mask, t), expected[characters].count(t));
  }
}

}  // namespace
}  // namespace nmc
