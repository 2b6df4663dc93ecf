// Grammars at work in the engine, on a model that knows nothing: the fake executor's logits are
// noise, so whatever is valid is so by constraint.
#include <cmath>

#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/schema.h"
#include "runtime/text/grammar/tool_calls.h"
#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

constexpr int32_t kTrigger = 95, kEos = 96;

// Ids 0 to 94 are the printable ASCII characters.
std::string spelling(int32_t token) {
  return token < kTrigger ? std::string(1, static_cast<char>(' ' + token))
                          : special_spelling(token);
}

std::string text(const std::vector<int32_t>& tokens) {
  std::string out;
  for (int32_t t : tokens) out += spelling(t);
  return out;
}

std::shared_ptr<const GrammarVocabulary> vocabulary() {
  static const auto all = [] {
    std::vector<std::string> spellings;
    for (int32_t t = 0; t < kEos; ++t) spellings.push_back(spelling(t));
    return std::make_shared<const GrammarVocabulary>(spellings, std::vector<int32_t>{kEos});
  }();
  return all;
}

std::shared_ptr<Grammar> compile(const GrammarBuilder& b, RuleId root) {
  auto grammar = Grammar::compile(b, root, vocabulary());
  EXPECT_TRUE(grammar.ok()) << grammar.status().message();
  return *grammar;
}

std::shared_ptr<Grammar> schema_grammar() {
  GrammarBuilder b;
  JsonRules rules(b);
  const Json schema = Json::parse(R"({"type": "object", "additionalProperties": false,
    "required": ["name", "size", "tags"], "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 8},
      "size": {"type": "integer", "minimum": 3, "maximum": 700},
      "tags": {"type": "array", "maxItems": 3, "items": {"enum": ["a", "bb"]}}}})");
  auto root = schema_expression(b, rules, schema, "schema");
  EXPECT_TRUE(root.ok()) << root.status().message();
  return compile(b, b.rule("root", *root));
}

std::shared_ptr<Grammar> call_grammar() {
  GrammarBuilder b;
  Json parameters = Json::parse(R"({"type": "object", "additionalProperties": false,
    "required": ["path"], "properties": {"path": {"type": "string", "maxLength": 9}}})");
  auto root =
      cmd4_tool_calls(b, {.tools = {{"read", parameters}, {"list", Json()}}, .parallel = false},
                      [](const std::string&) { return std::string("#"); });
  EXPECT_TRUE(root.ok());
  return compile(b, *root);
}

GenerationRequest constrained(int32_t seed, std::shared_ptr<Grammar> grammar) {
  GenerationRequest r = request(seed, 5, INT64_MAX);
  r.ignore_eos = false;
  r.grammar = std::move(grammar);
  return r;
}

TEST(Constrained, ARandomModelWritesValidJson) {
  auto engine = make_engine({.parallel = 4});
  auto grammar = schema_grammar();
  std::vector<std::shared_ptr<Generation>> all;
  for (int32_t i = 0; i < 50; ++i) all.push_back(*engine->submit(constrained(i, grammar)));
  for (auto& g : all) {
    std::string answer = text(collect(*g));
    ASSERT_EQ(g->reason(), FinishReason::kStop) << answer;
    Json json = Json::parse(answer, nullptr, false);
    ASSERT_TRUE(json.is_object()) << answer;
    EXPECT_GE(json["size"], 3);
    EXPECT_LE(json["size"], 700);
    EXPECT_LE(json["tags"].size(), 3u);
    EXPECT_TRUE(json["name"].is_string());
  }
}

TEST(Constrained, NeighboursDoNotChangeTheText) {
  auto grammar = schema_grammar();
  std::vector<int32_t> alone =
      collect(**make_engine({.parallel = 1})->submit(constrained(7, grammar)));
  auto engine = make_engine({.parallel = 3});
  auto free = *engine->submit(request(2, 40, 100));
  auto again = *engine->submit(constrained(7, grammar));
  EXPECT_EQ(collect(*again), alone);
  collect(*free);
}

TEST(Constrained, BehindATriggerEveryCallIsValidAndTheRestIsFree) {
  auto grammar = call_grammar();
  auto engine = make_engine({.parallel = 4});
  std::vector<std::shared_ptr<Generation>> all;
  for (int32_t i = 0; i < 20; ++i) {
    GenerationRequest r = constrained(i, grammar);
    r.ignore_eos = true;
    r.max_tokens = 600;
    r.grammar_trigger = kTrigger;
    r.sampling.logit_bias = {{kTrigger, 2}};
    all.push_back(*engine->submit(r));
  }
  int calls = 0, behind = 0;
  for (auto& g : all) {
    std::vector<int32_t> tokens = collect(*g);
    for (auto at = tokens.begin();;) {
      at = std::find(at, tokens.end(), kTrigger);
      if (at == tokens.end()) break;
      std::string rest = text({at + 1, tokens.end()});
      GrammarMatcher matcher(grammar);
      size_t fits = matcher.accept_bytes(rest);
      if (!matcher.must_end()) {
        EXPECT_EQ(fits, rest.size()) << "a call was left in the middle: " << rest;
        break;
      }
      Json call = Json::parse(rest.substr(0, fits - 1), nullptr, false);
      ASSERT_TRUE(call.is_array()) << rest;
      EXPECT_TRUE(call[0]["parameters"].is_object());
      ++calls;
      behind += fits < rest.size();
      at += 1 + static_cast<std::ptrdiff_t>(fits);
    }
  }
  EXPECT_GT(calls, 20);
  EXPECT_GT(behind, 5) << "text goes on behind a call";
}

TEST(Constrained, AGrammarWithoutTokensEndsWithAnError) {
  GrammarBuilder b;
  auto impossible = compile(b, b.rule("root", b.literal("ab\xc3\xa9")));
  auto engine = make_engine({.parallel = 1});
  auto g = *engine->submit(constrained(1, impossible));
  EXPECT_EQ(text(collect(*g)), "ab");
  EXPECT_EQ(g->reason(), FinishReason::kError);
  EXPECT_NE(g->status().message().find("grammar"), std::string::npos);
  expect_all_pages_free(*engine);
  EXPECT_TRUE(engine->stats().healthy);
}

TEST(Constrained, UnusedRowsAreNeverDrawn) {
  auto engine = make_engine({.parallel = 2, .vocabulary = 20});
  GenerationRequest r = request(1, 4, 300);
  for (int32_t& id : r.prompt) id %= 20;
  r.top_logprobs = 20;
  auto g = *engine->submit(r);
  while (!g->finished()) {
    auto t = g->next(std::chrono::milliseconds(1000));
    if (!t) continue;
    EXPECT_LT(t->token, 20);
    double sum = 0;
    for (const TokenLogprob& p : t->top) sum += std::exp(p.logprob);
    EXPECT_NEAR(sum, 1, 1e-3);
  }
  EXPECT_FALSE(engine->submit(request(50, 4, 5)).ok());
}

TEST(Constrained, LogprobsStayThoseOfTheModel) {
  GenerationRequest plain = request(3, 10, 1), biased = plain;
  plain.top_logprobs = biased.top_logprobs = 3;
  biased.sampling.logit_bias = {{11, 100}};
  auto engine = make_engine({.parallel = 1});
  auto first = [&](const GenerationRequest& r) {
    return *(*engine->submit(r))->next(std::chrono::milliseconds(5000));
  };
  GeneratedToken a = first(plain), b = first(biased);
  EXPECT_EQ(b.token, 11);
  EXPECT_EQ(a.top[0].token, b.top[0].token);
  EXPECT_EQ(a.top[0].logprob, b.top[0].logprob);
  EXPECT_LE(b.logprob, b.top[0].logprob);
}

}  // namespace
}  // namespace nmc
