// Times of constrained decoding on a vocabulary of 262,144 tokens: compiling ten tools, and the
// mask of every token of typical answers. docs/grammar.md has the figures.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <set>

#include "runtime/text/grammar/grammar.h"
#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/schema.h"
#include "runtime/text/grammar/tool_calls.h"

namespace nmc {
namespace {

constexpr size_t kVocabulary = 262'144;

// Of this thread, so that a busy machine does not blur the figures.
double microseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// Pieces like those of a byte-level BPE over prose and code: words with and without a blank before
// them, runs of punctuation and blanks, numbers, characters of several scripts.
std::vector<std::string> make_vocabulary() {
  std::mt19937 random(1);
  auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  const char* syllables[] = {"a",  "be",   "con", "der", "e",   "fi", "ge",  "ing", "ion", "ka",
                             "le", "ment", "no",  "or",  "pre", "re", "st",  "ter", "un",  "ver",
                             "s",  "ed",   "ly",  "ex",  "in",  "to", "ate", "com", "pro", "al"};
  const char* marks[] = {"\"", "'", "{", "}", "[", "]", "(", ")", ":", ",",  ".",  ";",  "=",
                         "\\", "/", "-", ">", "<", "*", "&", "|", " ", "\n", "\t", "  ", "\\n"};
  std::set<std::string> pieces;
  for (int b = 0; b < 256; ++b) pieces.insert(std::string(1, static_cast<char>(b)));
  for (int n = 0; n < 1000; ++n) pieces.insert(std::to_string(n));
  for (int n = 1; n <= 64; ++n) {
    pieces.insert(std::string(static_cast<size_t>(n), ' '));
    pieces.insert("\n" + std::string(static_cast<size_t>(n), ' '));
  }
  while (pieces.size() < 20'000) {
    std::string piece;
    for (size_t n = 1 + random() % 4; n > 0; --n) piece += pick(marks);
    pieces.insert(random() % 6 == 0 ? piece + pick(syllables) : piece);
  }
  while (pieces.size() < 60'000) {
    std::string piece;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      uint32_t c = random() % 2 ? 0x4e00 + random() % 0x5000 : 0x400 + random() % 0x400;
      if (c >= 0x800) piece += static_cast<char>(0xe0 | c >> 12);
      piece += static_cast<char>(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
      piece += static_cast<char>(0x80 | (c & 0x3f));
    }
    pieces.insert(piece);
  }
  while (pieces.size() < kVocabulary - 2) {
    std::string word;
    for (size_t n = 1 + random() % 5; n > 0; --n) word += pick(syllables);
    if (random() % 4 == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
    pieces.insert(random() % 2 ? " " + word : word);
  }
  std::vector<std::string> spellings(pieces.begin(), pieces.end());
  for (size_t id = kVocabulary - 2; id < kVocabulary; ++id)
    spellings.push_back(special_spelling(static_cast<int32_t>(id)));
  return spellings;
}

// The tools of a coding agent.
std::vector<ToolDefinition> coding_tools() {
  auto tool = [](const char* name, const char* properties, const char* required) {
    return ToolDefinition{
        name,
        Json::parse(std::string(R"({"type": "object", "additionalProperties": false,)") +
                    "\"properties\": {" + properties + "}, \"required\": [" + required + "]}")};
  };
  return {
      tool("bash", R"("command": {"type": "string", "description": "The command"},
        "timeout": {"type": "number"}, "workdir": {"type": "string"},
        "description": {"type": "string"})",
           R"("command", "description")"),
      tool("read", R"("filePath": {"type": "string"}, "offset": {"type": "number"},
        "limit": {"type": "number"})",
           R"("filePath")"),
      tool("write", R"("content": {"type": "string"}, "filePath": {"type": "string"})",
           R"("content", "filePath")"),
      tool("edit", R"("filePath": {"type": "string"}, "oldString": {"type": "string"},
        "newString": {"type": "string"}, "replaceAll": {"type": "boolean"})",
           R"("filePath", "oldString", "newString")"),
      tool("glob", R"("pattern": {"type": "string"}, "path": {"type": "string"})", R"("pattern")"),
      tool("grep", R"("pattern": {"type": "string"}, "path": {"type": "string"},
        "include": {"type": "string"})",
           R"("pattern")"),
      tool("list", R"("path": {"type": "string"},
        "ignore": {"type": "array", "items": {"type": "string"}})",
           ""),
      tool("webfetch", R"("url": {"type": "string"}, "timeout": {"type": "number"},
        "format": {"type": "string", "enum": ["text", "markdown", "html"]})",
           R"("url", "format")"),
      tool("task", R"("description": {"type": "string"}, "prompt": {"type": "string"},
        "subagent_type": {"type": "string"})",
           R"("description", "prompt", "subagent_type")"),
      tool("todowrite", R"("todos": {"type": "array", "items": {"type": "object",
        "additionalProperties": false, "required": ["content", "status", "priority", "id"],
        "properties": {"content": {"type": "string"}, "status": {"type": "string",
        "enum": ["pending", "in_progress", "completed", "cancelled"]},
        "priority": {"type": "string", "enum": ["high", "medium", "low"]},
        "id": {"type": "string"}}}})",
           R"("todos")"),
  };
}

// The longest pieces, from the left.
std::vector<int32_t> tokenize(const GrammarVocabulary& vocabulary, std::string_view text) {
  const auto& nodes = vocabulary.trie().nodes();
  std::vector<int32_t> tokens;
  while (!text.empty()) {
    uint32_t n = 0;
    size_t best = 0;
    int32_t token = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      uint32_t child = n + 1;
      while (child < nodes[n].end && nodes[child].byte != static_cast<uint8_t>(text[i]))
        child = nodes[child].end;
      if (child >= nodes[n].end) break;
      n = child;
      vocabulary.trie().tokens_at(n, [&](int32_t t) {
        token = t;
        best = i + 1;
      });
    }
    tokens.push_back(token);
    text.remove_prefix(best);
  }
  return tokens;
}

struct Case {
  const char* name;
  std::function<Result<RuleId>(GrammarBuilder&)> build;
  std::vector<std::string> texts;
};

std::vector<Case> cases() {
  auto schema = [](const char* json) {
    return [json](GrammarBuilder& b) -> Result<RuleId> {
      JsonRules rules(b);
      NMC_ASSIGN(ExprId root, schema_expression(b, rules, Json::parse(json), "schema"));
      return b.rule("root", root);
    };
  };
  return {
      {"ten tools",
       [](GrammarBuilder& b) {
         return cmd4_tool_calls(b, {.tools = coding_tools(), .parallel = true},
                                [](const std::string& m) { return m; });
       },
       {R"([
    {"tool_call_id": "0", "tool_name": "bash", "parameters": {"command": "cd src && grep -rn \"alpha\" .", "timeout": 1200, "description": "Find the uses of a name"}}
]<|END_ACTION|>)",
        R"([
    {"tool_call_id": "0", "tool_name": "edit", "parameters": {"filePath": "src/main.cpp", "oldString": "int main() {\n  return 0;\n}", "newString": "int main(int argc, char** argv) {\n  return run(argc, argv);\n}", "replaceAll": false}},
    {"tool_call_id": "1", "tool_name": "todowrite", "parameters": {"todos": [{"content": "Überprüfe den Parser", "status": "in_progress", "priority": "high", "id": "1"}]}}
]<|END_ACTION|>)"}},
      {"any object",
       schema(R"({"type": "object"})"),
       {R"({"name": "x", "list": [1, 2.5, {"deep": [true, null, "text with words"]}], "n": -12e3})"}},
      {"open object",
       schema(R"({"type": "object", "required": ["answer"], "properties": {
          "answer": {"type": "string"}, "score": {"type": "integer", "minimum": 0,
          "maximum": 100}}})"),
       {R"({"answer": "forty two", "score": 97, "reason": "because it is", "other": [1]})"}},
      {"formats and counts",
       schema(R"({"type": "object", "additionalProperties": false,
          "required": ["id", "day", "title"], "properties": {"id": {"pattern": "^[A-Z]{3}-[0-9]+$"},
          "day": {"format": "date"}, "title": {"type": "string", "maxLength": 80}}})"),
       {R"({"id": "ABC-1042", "day": "2024-05-17", "title": "a title that is not too long to be read"})"}},
      {"counted strings",
       schema(R"({"type": "object", "additionalProperties": false, "required": ["slug", "text"],
          "properties": {"slug": {"pattern": "^[a-z0-9_-]{1,64}$"},
          "text": {"type": "string", "minLength": 20, "maxLength": 4000}}})"),
       {R"({"slug": "a-name_of-some_kind-that-is-not-very-short-but-fits-the-bound", "text": "Words that stand near the lower bound, and then some more of them, so that it is passed."})"}},
  };
}

void print(const char* name, const char* what, std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  std::printf("%-20s %-6s %6zu masks  median %8.1f us  p99 %8.1f us  max %8.1f us\n", name, what,
              times.size(), times[times.size() / 2], times[times.size() * 99 / 100], times.back());
}

int run() {
  double start = microseconds();
  auto vocabulary = std::make_shared<const GrammarVocabulary>(
      make_vocabulary(), std::vector<int32_t>{static_cast<int32_t>(kVocabulary - 1)});
  std::printf("vocabulary: %zu tokens, %zu nodes, %.0f ms\n", vocabulary->trie().vocab_size(),
              vocabulary->trie().nodes().size(), (microseconds() - start) / 1000);
  std::vector<uint32_t> mask(vocabulary->trie().mask_words());
  for (const Case& c : cases()) {
    start = microseconds();
    GrammarBuilder b;
    Result<RuleId> root = c.build(b);
    auto grammar = root.ok() ? Grammar::compile(b, *root, vocabulary) : root.status();
    if (!grammar.ok()) return std::printf("%s\n", grammar.status().message().c_str()), 1;
    std::printf("%-20s compile %.2f ms\n", c.name, (microseconds() - start) / 1000);
    for (const char* what : {"first", "again"}) {
      std::vector<double> times;
      for (const std::string& text : c.texts) {
        GrammarMatcher matcher(*grammar);
        for (int32_t token : tokenize(*vocabulary, text)) {
          start = microseconds();
          matcher.fill_mask(mask);
          times.push_back(microseconds() - start);
          if (!matcher.accept_token(token)) {
            return std::printf("%s: the text does not fit\n", c.name), 1;
          }
        }
      }
      print(c.name, what, times);
    }
  }
  return 0;
}

}  // namespace
}  // namespace nmc

int main() {
  return nmc::run();
}
