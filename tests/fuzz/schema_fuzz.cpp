// JSON Schemas: whatever the schema says, it is refused or becomes a grammar whose texts are JSON
// and whose every mask holds a token that can be taken.
#include <cstdlib>

#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/local_mask.h"
#include "runtime/text/grammar/schema.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::shared_ptr<const nmc::GrammarVocabulary> vocabulary() {
  static const auto bytes = [] {
    std::vector<std::string> spellings;
    for (int b = 0; b < 256; ++b) spellings.emplace_back(1, static_cast<char>(b));
    for (const char* piece : {"\": ", "\", \"", "true", "null", "12", "abc", "}}", "\\n"})
      spellings.emplace_back(piece);
    spellings.emplace_back();
    auto end = static_cast<int32_t>(spellings.size()) - 1;
    return std::make_shared<const nmc::GrammarVocabulary>(spellings, std::vector<int32_t>{end});
  }();
  return bytes;
}

// Draws a text by the masks, steered by `choices`.
void follow(const std::shared_ptr<nmc::Grammar>& grammar, std::string_view choices) {
  nmc::GrammarMatcher matcher(grammar);
  const nmc::TokenTrie& trie = vocabulary()->trie();
  const auto end = static_cast<int32_t>(trie.vocab_size()) - 1;
  std::vector<uint32_t> mask(trie.mask_words());
  std::string text;
  for (size_t step = 0; step < 60 && !matcher.must_end(); ++step) {
    matcher.fill_mask(mask);
    std::vector<int32_t> allowed;
    for (int32_t t = 0; t < end; ++t) {
      if (nmc::is_allowed(mask, t)) allowed.push_back(t);
    }
    require(nmc::is_allowed(mask, end) == matcher.can_end());
    require(!allowed.empty());
    auto choice = static_cast<uint8_t>(choices[step % choices.size()]);
    int32_t token = allowed[(choice + step) % allowed.size()];
    require(matcher.accept_token(token));
    text += trie.spelling(token);
    if (matcher.can_end()) require(nmc::Json::accept(text));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  auto schema = nmc::parse_json(input, "the schema");
  if (!schema.ok()) return 0;
  nmc::GrammarBuilder b;
  nmc::JsonRules rules(b);
  auto root = nmc::schema_expression(b, rules, *schema, "schema");
  if (!root.ok()) {
    require(!root.status().message().empty());
    return 0;
  }
  auto grammar = nmc::Grammar::compile(b, b.rule("root", *root), vocabulary());
  if (!grammar.ok()) {
    require(!grammar.status().message().empty());
    return 0;
  }
  follow(*grammar, input);
  return 0;
}
