// Dialects: the first byte picks dialect, start and options, the rest is a model's output. Feeding
// it whole, byte by byte and in uneven pieces must say the same, and calls must be well formed.
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/base/json.h"
#include "runtime/text/dialect/dialect.h"

using nmc::DialectEvent;
using Kind = DialectEvent::Kind;

static void require(bool holds) {
  if (!holds) std::abort();
}

// The events with neighbouring texts of one kind joined, as text to compare.
static std::string summarize(const std::vector<DialectEvent>& events) {
  std::string out, arguments;
  int last = -1, calls = 0;
  bool open = false;
  for (const DialectEvent& e : events) {
    int kind = static_cast<int>(e.kind);
    if (kind != last) out += "\n" + std::to_string(kind) + " ";
    last = kind;
    out += e.text;
    if (e.kind == Kind::kCallBegin) out += e.name + "|" + e.model_id;
    if (e.kind == Kind::kCallEnd) out += e.complete ? "whole" : "broken";
    switch (e.kind) {
      case Kind::kReasoning:
      case Kind::kContent:
        require(!open && !e.text.empty() && e.index == -1);
        break;
      case Kind::kCallBegin:
        require(!open && e.index == calls && !e.id.empty());
        ++calls;
        open = true;
        arguments.clear();
        break;
      case Kind::kCallArguments:
        require(open && e.index == calls - 1 && !e.text.empty());
        arguments += e.text;
        break;
      case Kind::kCallEnd: {
        require(open && e.index == calls - 1);
        auto parsed = nmc::parse_json(arguments, "arguments");
        require(!e.complete || (parsed.ok() && parsed->is_object()));
        open = false;
        break;
      }
    }
  }
  require(!open);
  return out;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  auto dialect = data[0] & 64 ? nmc::Dialect::kCoder : static_cast<nmc::Dialect>(data[0] & 3);
  auto start = data[0] & 4 ? nmc::StartMode::kReasoning : nmc::StartMode::kContent;
  bool cut = data[0] & 16;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  auto run = [&](auto piece_size) {
    nmc::DialectOptions options;
    options.tools = !(data[0] & 8);
    options.json_answer = data[0] & 32;
    options.citations = data[0] & 128;
    options.make_id = [] { return std::string("id"); };
    // By the length of its name, any kind.
    options.parameter_kind = [](const std::string&, const std::string& parameter) {
      return static_cast<nmc::ParameterKind>(parameter.size() & 3);
    };
    auto parser = nmc::make_parser(dialect, start, options);
    std::vector<DialectEvent> events;
    for (size_t at = 0; at < text.size();) {
      size_t n = std::min(text.size() - at, piece_size(at));
      parser->feed(text.substr(at, n), &events);
      at += n;
    }
    parser->finish(cut, &events);
    return summarize(events);
  };
  std::string whole = run([](size_t) { return SIZE_MAX; });
  require(whole == run([](size_t) { return size_t{1}; }));
  require(whole == run([](size_t at) { return 1 + (at * 7 + 3) % 11; }));
  return 0;
}
