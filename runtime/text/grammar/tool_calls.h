// Grammars for the tool calls of each output dialect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"

namespace nmc {

struct ToolDefinition {
  std::string name;
  Json parameters;  // a JSON Schema; null or absent: an object without properties
};

struct ToolCallRules {
  std::vector<ToolDefinition> tools = {};  // those that may be called, at least one
  bool parallel = true;                    // more than one call in a turn
};

// Token spellings of markers: special_spelling(id) when the vocabulary has the marker as a token,
// otherwise its text.
using MarkerSpelling = std::function<std::string(const std::string& marker)>;

// The text behind `<|START_ACTION|>` up to the end of the turn: an array of calls with the keys
// tool_call_id, tool_name, parameters in the model's order, then `<|END_ACTION|>`. Parameters fit
// the called tool's schema. Source: the cmd4 layout of Cohere's models.
Result<RuleId> cmd4_tool_calls(GrammarBuilder& builder, const ToolCallRules& rules,
                               const MarkerSpelling& spelling);

// The text behind `<tool_call>`: {"name": ..., "arguments": ...}, `</tool_call>`, and with
// `parallel` further calls. Source: the Hermes layout, also Qwen's.
Result<RuleId> hermes_tool_calls(GrammarBuilder& builder, const ToolCallRules& rules,
                                 const MarkerSpelling& spelling);

// The text behind `<tool_call>` in Qwen3-Coder's layout: <function=name>, for each parameter in the
// schema's order <parameter=key>, its value and </parameter>, </function>, `</tool_call>`, and with
// `parallel` further calls. Parameters that the schema does not name are not written.
Result<RuleId> coder_tool_calls(GrammarBuilder& builder, const ToolCallRules& rules,
                                const MarkerSpelling& spelling);

}  // namespace nmc
