// Grammars of every kind that requests bring, each with texts of it: the benchmark times their
// masks, the tests check them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/text/grammar/expression.h"
#include "runtime/text/grammar/tool_calls.h"

namespace nmc {

struct GrammarCase {
  std::string name;
  std::function<Result<RuleId>(GrammarBuilder&)> build;
  std::vector<std::string> texts;  // complete ones
};

std::vector<GrammarCase> grammar_cases();

// The tools of a coding agent.
std::vector<ToolDefinition> coding_tools();
// Those of an agent with many servers of tools: `count` of them with `parameters` each.
std::vector<ToolDefinition> many_tools(int count, int parameters);

}  // namespace nmc
