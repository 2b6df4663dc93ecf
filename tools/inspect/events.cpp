#include "tools/inspect/events.h"

#include <vector>

#include "tools/inspect/model_text.h"

namespace nmc {
namespace {

Json event_json(const DialectEvent& event) {
  switch (event.kind) {
    case DialectEvent::Kind::kReasoning:
      return {{"event", "reasoning"}, {"text", event.text}};
    case DialectEvent::Kind::kContent:
      return {{"event", "content"}, {"text", event.text}};
    case DialectEvent::Kind::kCallBegin:
      return {{"event", "call_begin"},
              {"index", event.index},
              {"id", event.id},
              {"model_id", event.model_id},
              {"name", event.name}};
    case DialectEvent::Kind::kCallArguments:
      return {{"event", "call_arguments"}, {"index", event.index}, {"text", event.text}};
    case DialectEvent::Kind::kCallEnd:
      return {{"event", "call_end"}, {"index", event.index}, {"complete", event.complete}};
  }
  return {};
}

}  // namespace

Result<std::string> parse_output(const ModelFile& file, const std::string& text, StartMode start) {
  NMC_ASSIGN(const Dialect dialect, dialect_of(file));
  DialectOptions options;
  options.make_id = [calls = 0]() mutable { return "call_" + std::to_string(calls++); };
  const auto parser = make_parser(dialect, start, options);
  std::vector<DialectEvent> events;
  parser->feed(text, &events);
  parser->finish(/*cut=*/false, &events);
  std::string lines;
  for (const DialectEvent& event : events) lines += dump_json(event_json(event)) + "\n";
  return lines;
}

}  // namespace nmc
