#include "tests/runtime/text/dialect/transcript.h"

#include <gtest/gtest.h>

#include "runtime/base/text.h"

namespace nmc {

std::ostream& operator<<(std::ostream& out, const Transcript& t) {
  out << "reasoning: '" << t.reasoning << "' content: '" << t.content << "'";
  for (const Call& c : t.calls) {
    out << " call: " << c.name << "(" << c.arguments << ") id '" << c.model_id << "'"
        << (c.complete ? "" : " incomplete");
  }
  return out << (t.errors.empty() ? "" : " errors: ") << t.errors;
}

Transcript summarize(const std::vector<DialectEvent>& events) {
  using Kind = DialectEvent::Kind;
  Transcript t;
  bool open = false;
  for (const DialectEvent& e : events) {
    bool in_call = e.kind >= Kind::kCallBegin;
    if (in_call != (e.index >= 0)) t.errors += "index ";
    if (!in_call || e.kind == Kind::kCallArguments) {
      if (e.text.empty()) t.errors += "empty-text ";
      if (complete_utf8_prefix(e.text) != e.text.size()) t.errors += "cut-character ";
    }
    if (!in_call && open) t.errors += "text-inside-call ";
    switch (e.kind) {
      case Kind::kReasoning:
        t.reasoning += e.text;
        break;
      case Kind::kContent:
        t.content += e.text;
        break;
      case Kind::kCallBegin:
        if (open || e.index != static_cast<int>(t.calls.size())) t.errors += "begin ";
        if (e.id.empty() || e.name.empty()) t.errors += "nameless ";
        t.calls.push_back({e.name, "", e.model_id, true});
        open = true;
        break;
      case Kind::kCallArguments:
      case Kind::kCallEnd:
        if (!open || e.index != static_cast<int>(t.calls.size()) - 1) {
          t.errors += "outside-call ";
          break;
        }
        t.calls.back().arguments += e.text;
        if (e.kind == Kind::kCallEnd) {
          t.calls.back().complete = e.complete;
          open = false;
        }
        break;
    }
  }
  if (open) t.errors += "never-ended ";
  return t;
}

static Transcript read_pieces(const std::vector<std::string_view>& pieces, const Reading& how) {
  DialectOptions options;
  options.tools = how.tools;
  options.json_answer = how.json;
  options.citations = how.citations;
  options.parameter_kind = how.parameter_kind;
  auto parser = make_parser(how.dialect, how.start, options);
  std::vector<DialectEvent> events;
  for (std::string_view piece : pieces) parser->feed(piece, &events);
  parser->finish(how.cut, &events);
  parser->finish(how.cut, &events);
  parser->feed("late", &events);
  return summarize(events);
}

Transcript read(std::string_view text, const Reading& how) {
  Transcript whole = read_pieces({text}, how);
  EXPECT_EQ(whole.errors, "") << text;
  for (size_t at = 0; at <= text.size(); ++at) {
    EXPECT_EQ(read_pieces({text.substr(0, at), text.substr(at)}, how), whole) << "cut at " << at;
  }
  for (size_t size : {1, 2, 3, 4, 7, 10}) {
    std::vector<std::string_view> pieces;
    for (size_t at = 0; at < text.size(); at += size) pieces.push_back(text.substr(at, size));
    EXPECT_EQ(read_pieces(pieces, how), whole) << "pieces of " << size;
  }
  return whole;
}

}  // namespace nmc
