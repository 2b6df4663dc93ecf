#include <algorithm>

#include "runtime/text/grammar/schema_compiler.h"

namespace nmc {

Result<ExprId> SchemaCompiler::compile_array(const Json& schema, const std::string& path) {
  NMC_ASSIGN(auto min, count(schema, "minItems", path));
  NMC_ASSIGN(auto max, count(schema, "maxItems", path));
  int64_t least = min.value_or(0), most = max.value_or(kNoLimit);
  if (most != kNoLimit && least > most) return refuse(path + "/minItems", "it exceeds maxItems");

  std::vector<ExprId> first;
  if (schema.contains("prefixItems")) {
    const Json& list = schema["prefixItems"];
    if (!list.is_array()) return refuse(path + "/prefixItems", "a list of schemas is expected");
    for (size_t i = 0; i < list.size(); ++i) {
      NMC_ASSIGN(ExprId item, compile_rule(list[i], path + "/prefixItems/" + std::to_string(i)));
      first.push_back(item);
    }
  }
  ExprId item = rules_.value();
  if (schema.contains("items")) {
    if (schema["items"] == false) {
      most = most == kNoLimit ? static_cast<int64_t>(first.size())
                              : std::min(most, static_cast<int64_t>(first.size()));
      if (least > most) return refuse(path + "/minItems", "it exceeds the number of prefixItems");
    } else {
      NMC_ASSIGN(item, compile_rule(schema["items"], path + "/items"));
    }
  }
  if (first.empty()) return rules_.list('[', item, least, most, ']');

  // Built from the back: what may stand from item i on, once a comma is due.
  auto n = static_cast<int64_t>(first.size());
  if (most != kNoLimit && most < n) first.resize(static_cast<size_t>(most));
  auto from = [&](int64_t i, ExprId rest) { return i >= least ? b_.optional(rest) : rest; };
  ExprId tail = b_.empty();
  if (most == kNoLimit || most > n) {
    tail = b_.repeat(b_.sequence({rules_.comma(), item}), std::max<int64_t>(0, least - n),
                     most == kNoLimit ? kNoLimit : most - n);
  }
  for (size_t i = first.size(); i-- > 1;) {
    tail = from(static_cast<int64_t>(i), b_.sequence({rules_.comma(), first[i], tail}));
  }
  ExprId body = first.empty() ? b_.empty() : from(0, b_.sequence({first[0], tail, rules_.space()}));
  return b_.sequence({b_.literal("["), rules_.space(), body, b_.literal("]")});
}

}  // namespace nmc
