#include "runtime/text/grammar/choice.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace nmc {
namespace {

// What follows the first `depth` bytes, which all `texts` (sorted, without repeats) share.
ExprId rest(GrammarBuilder& b, std::span<const std::string_view> texts, size_t depth) {
  std::string_view first = texts.front(), last = texts.back();
  auto common = std::mismatch(first.begin() + static_cast<std::ptrdiff_t>(depth), first.end(),
                              last.begin() + static_cast<std::ptrdiff_t>(depth), last.end());
  const auto shared = static_cast<size_t>(common.first - first.begin());
  std::vector<ExprId> options;
  size_t begin = 0;
  if (first.size() == shared) {
    options.push_back(b.empty());
    begin = 1;
  }
  while (begin < texts.size()) {
    size_t end = begin + 1;
    while (end < texts.size() && texts[end][shared] == texts[begin][shared]) ++end;
    options.push_back(rest(b, texts.subspan(begin, end - begin), shared));
    begin = end;
  }
  ExprId head = b.literal(first.substr(depth, shared - depth));
  return b.sequence({head, b.choice(std::move(options))});
}

}  // namespace

Result<ExprId> choice_expression(GrammarBuilder& builder, const std::vector<std::string>& choices) {
  if (choices.empty()) return invalid_argument("there is nothing to choose from");
  std::vector<size_t> order(choices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return choices[a] < choices[b]; });
  constexpr size_t kMaxBytes = 1 << 20;  // also bounds how deep they nest
  size_t bytes = 0;
  for (const std::string& choice : choices) bytes += choice.size();
  if (bytes > kMaxBytes) return invalid_argument("the choices are longer than 1 MiB in all");
  std::vector<std::string_view> sorted;
  for (size_t i : order) {
    if (choices[i].empty()) return invalid_argument("choice " + std::to_string(i) + " is empty");
    if (!sorted.empty() && sorted.back() == choices[i])
      return invalid_argument("choice " + std::to_string(i) + " repeats an earlier one");
    sorted.push_back(choices[i]);
  }
  return rest(builder, sorted, 0);
}

}  // namespace nmc
