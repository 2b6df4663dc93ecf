#include "server/api/answer_grammar.h"

#include "runtime/text/grammar/json_rules.h"
#include "runtime/text/grammar/tool_calls.h"

namespace nmc::api {
namespace {

using Mode = ToolChoice::Mode;

// Empty where the dialect has no such marker, or no grammar for its calls.
struct Markers {
  const char* end_thinking = "";
  const char* open_call = "";
  const char* open_text = "";
  const char* close_text = "";
};

Markers markers_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::kCmd3:
      return {.end_thinking = "<|END_THINKING|>",
              .open_text = "<|START_RESPONSE|>",
              .close_text = "<|END_RESPONSE|>"};
    case Dialect::kCmd4:
      return {.end_thinking = "<|END_THINKING|>",
              .open_call = "<|START_ACTION|>",
              .open_text = "<|START_TEXT|>",
              .close_text = "<|END_TEXT|>"};
    case Dialect::kHermes:
    case Dialect::kCoder:
      return {.end_thinking = "</think>", .open_call = "<tool_call>"};
    case Dialect::kPlain:
      break;
  }
  return {};
}

// A bias that no logit outweighs: a token that is named more than once gets the sum.
constexpr int kBanRepeats = 10;

class AnswerGrammar {
 public:
  AnswerGrammar(const Grammars& grammars, Dialect dialect, const ChatCompletionRequest& request)
      : grammars_(grammars),
        dialect_(dialect),
        markers_(markers_of(dialect)),
        request_(request),
        spelling_([this](const std::string& marker) { return grammars_.spelling(marker); }) {}

  // What follows the opening marker of a call.
  Result<RuleId> calls(GrammarBuilder& b) const {
    ToolCallRules rules;
    rules.parallel = request_.parallel_calls;
    for (size_t i : request_.choice.allowed) {
      const Json& function = request_.prompt.tools[i]["function"];
      auto parameters = function.find("parameters");
      rules.tools.push_back({.name = function["name"].get<std::string>(),
                             .parameters = parameters == function.end() ? Json() : *parameters});
    }
    auto root = dialect_ == Dialect::kHermes  ? hermes_tool_calls(b, rules, spelling_)
                : dialect_ == Dialect::kCoder ? coder_tool_calls(b, rules, spelling_)
                                              : cmd4_tool_calls(b, rules, spelling_);
    if (!root.ok()) return numbered(root.status());
    return root;
  }

  // The whole output.
  Result<RuleId> output(GrammarBuilder& b, StartMode start) const {
    std::vector<ExprId> parts, answers;
    if (start == StartMode::kReasoning) {
      parts.push_back(b.repeat(utf8_character(b, {{0, 0x10ffff}}), 0, kNoLimit));
      parts.push_back(literal(b, markers_.end_thinking));
    }
    const bool tagged = dialect_ == Dialect::kHermes || dialect_ == Dialect::kCoder;
    if (tagged) parts.push_back(JsonRules(b).space());
    if (request_.tools) {
      NMC_ASSIGN(RuleId calls, this->calls(b));
      answers.push_back(b.sequence({literal(b, markers_.open_call), b.call(calls)}));
    }
    if (request_.choice.mode != Mode::kRequired) {
      NMC_ASSIGN(ExprId text, format_expression(b, request_.options.format));
      answers.push_back(
          b.sequence({literal(b, markers_.open_text), text, literal(b, markers_.close_text)}));
    }
    parts.push_back(b.choice(std::move(answers)));
    return b.rule("output", b.sequence(std::move(parts)));
  }

 private:
  ExprId literal(GrammarBuilder& b, const char* marker) const {
    return *marker ? b.literal(grammars_.spelling(marker)) : b.empty();
  }

  // The grammar counts the tools that may be called, the request all of them.
  Status numbered(const Status& status) const {
    const std::string& message = status.message();
    for (size_t i = 0; i < request_.choice.allowed.size(); ++i) {
      std::string place = "tools[" + std::to_string(i) + "]";
      if (!message.starts_with(place)) continue;
      return Status(status.code(), "tools[" + std::to_string(request_.choice.allowed[i]) + "]" +
                                       message.substr(place.size()));
    }
    return status;
  }

  const Grammars& grammars_;
  const Dialect dialect_;
  const Markers markers_;
  const ChatCompletionRequest& request_;
  const MarkerSpelling spelling_;
};

std::string field_named(const std::string& name) {
  return "request: the field \"" + name + "\"";
}

Status not_enforced(const std::string& what) {
  return unsupported("request: " + what + " is not supported for this model");
}

}  // namespace

Result<Constraint> chat_constraint(Grammars& grammars, Dialect dialect, StartMode start,
                                   const ChatCompletionRequest& request) {
  const Markers markers = markers_of(dialect);
  const bool required = request.choice.mode == Mode::kRequired;
  const bool formatted = request.options.format.kind != AnswerFormat::Kind::kText;
  if (!request.tools && !formatted) return Constraint{};
  const bool free = !required && !formatted;
  const auto opener = grammars.marker(markers.open_call);
  const bool all = request.tools && request.choice.allowed.size() == request.prompt.tools.size();
  if (request.tools && !*markers.open_call && (required || formatted || !all)) {
    return not_enforced("this \"tool_choice\", or \"tools\" with an answer format,");
  }
  if (free && !opener) {
    if (!all) return not_enforced("this \"tool_choice\"");
    return Constraint{};
  }
  bool reasons = !free && start == StartMode::kReasoning;
  if (reasons && !grammars.marker(markers.end_thinking)) {
    return not_enforced("a required call or an answer format while reasoning is on");
  }
  Json key = {static_cast<int>(dialect), free, reasons, required, request.parallel_calls};
  if (request.tools) key.push_back({request.prompt.tools, request.choice.allowed});
  if (!free && !required) key.push_back(request.options.format.key());
  AnswerGrammar answer(grammars, dialect, request);
  Constraint constraint;
  auto build = [&](GrammarBuilder& b) { return free ? answer.calls(b) : answer.output(b, start); };
  std::string what =
      request.tools ? field_named("tools") : field_named(request.options.format.where);
  NMC_ASSIGN(constraint.grammar, grammars.get(dump_json(key), what, build));
  if (free) constraint.trigger = opener;
  return constraint;
}

Result<Constraint> text_constraint(Grammars& grammars, const AnswerFormat& format) {
  if (format.kind == AnswerFormat::Kind::kText) return Constraint{};
  auto build = [&](GrammarBuilder& b) -> Result<RuleId> {
    NMC_ASSIGN(ExprId text, format_expression(b, format));
    return b.rule("output", text);
  };
  Constraint constraint;
  NMC_ASSIGN(constraint.grammar,
             grammars.get(dump_json(format.key()), field_named(format.where), build));
  return constraint;
}

Status limit_reasoning(const Grammars& grammars, Dialect dialect, ChatCompletionRequest* request) {
  if (request->reasoning_budget < 0) return {};
  const char* marker = markers_of(dialect).end_thinking;
  auto end = *marker ? grammars.marker(marker) : std::nullopt;
  if (!end) return not_enforced("a budget for reasoning");
  request->options.deadline = {.token = *end, .after = request->reasoning_budget};
  return {};
}

void ban_calls(const Grammars& grammars, Dialect dialect, std::vector<TokenBias>* biases) {
  const char* marker = markers_of(dialect).open_call;
  auto opener = *marker ? grammars.marker(marker) : std::nullopt;
  for (int i = 0; opener && i < kBanRepeats; ++i) biases->push_back({*opener, -100});
}

}  // namespace nmc::api
