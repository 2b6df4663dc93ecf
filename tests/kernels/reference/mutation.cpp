#include "tests/kernels/reference/mutation.h"

#include <algorithm>

#include "tests/kernels/reference/wrong_operations.h"

namespace nmc::test {
namespace {

using reference::Operations;

bool always(const ModelDescription&) {
  return true;
}
bool any_sparse(const ModelDescription& m) {
  return std::ranges::any_of(m.layers, &LayerDescription::sparse);
}
bool any_window(const ModelDescription& m) {
  return std::ranges::any_of(m.layers, [](const auto& l) { return l.window > 0; });
}
bool forced_rope(const LayerDescription& l) {
  return l.rope && l.window == 0;
}
bool any_sigmoid(const ModelDescription& m) {
  return any_sparse(m) && m.router == RouterKind::kSigmoid;
}
bool any_shared(const ModelDescription& m) {
  return any_sparse(m) && m.shared_experts > 0;
}

std::function<void(ModelDescription*)> for_each_layer(
    std::function<void(LayerDescription*)> change) {
  return [change](ModelDescription* m) {
    for (LayerDescription& layer : m->layers) change(&layer);
  };
}

Mutation window(const std::string& name, int64_t by) {
  return {name,
          any_window,
          for_each_layer([by](LayerDescription* l) {
            if (l->window > 0) l->window += by;
          }),
          {}};
}

}  // namespace

std::vector<Mutation> mutations() {
  return {
      window("WindowOneShorter", -1),
      window("WindowOneLonger", 1),
      {"RopeOnEveryLayer",
       [](const auto& m) {
         return std::ranges::any_of(m.layers, [](const auto& l) { return !l.rope; });
       },
       for_each_layer([](LayerDescription* l) { l->rope = true; }),
       {}},
      {"ForcedRopeDropped",
       [](const auto& m) { return std::ranges::any_of(m.layers, forced_rope); },
       for_each_layer([](LayerDescription* l) { l->rope = l->window > 0; }),
       {}},
      {"HalfSplitPairs", always, {}, [](Operations* o) { o->rope = half_split_rope; }},
      {"NormKindSwapped",
       always,
       [](ModelDescription* m) {
         m->norm = m->norm == NormKind::kRms ? NormKind::kLayer : NormKind::kRms;
       },
       {}},
      {"MlpReadsTheResidual", always, {}, [](Operations* o) { o->block = mlp_reads_residual; }},
      {"SequentialBlock", always, {}, [](Operations* o) { o->block = mlp_reads_attention_too; }},
      {"RenormalizationToggled",
       any_sigmoid,
       [](ModelDescription* m) { m->renormalize = !m->renormalize; },
       {}},
      {"SigmoidAndSoftmaxSwapped",
       any_sparse,
       [](ModelDescription* m) {
         m->router =
             m->router == RouterKind::kSigmoid ? RouterKind::kSoftmax : RouterKind::kSigmoid;
       },
       {}},
      {"SoftmaxOverAllExperts",
       [](const auto& m) { return any_sparse(m) && m.router == RouterKind::kSoftmax; },
       {},
       [](Operations* o) { o->route = softmax_over_all; }},
      {"AnotherExpert",
       [](const auto& m) { return any_sparse(m) && m.experts > m.experts_per_token; },
       {},
       [](Operations* o) { o->route = next_best_expert; }},
      {"WeightOnTheExpertsInput",
       any_sparse,
       {},
       [](Operations* o) { o->expert = weight_on_input; }},
      {"AverageHalvesOnlyTheSharedPart",
       [](const auto& m) { return any_shared(m) && m.shared_combine == SharedCombine::kAverage; },
       {},
       [](Operations* o) { o->combine_shared = halve_shared_only; }},
      {"SumAndAverageSwapped",
       any_shared,
       [](ModelDescription* m) {
         m->shared_combine = m->shared_combine == SharedCombine::kSum ? SharedCombine::kAverage
                                                                      : SharedCombine::kSum;
       },
       {}},
      {"LogitScaleDropped",
       [](const auto& m) { return m.logit_scale != 1; },
       [](ModelDescription* m) { m->logit_scale = 1; },
       {}},
      {"QueryAsWideAsTheStream",
       [](const auto& m) { return m.q_width() > m.hidden; },
       {},
       [](Operations* o) { o->attention = attention_of_hidden_width; }},
      {"KvHeadsInterleaved",
       [](const auto& m) { return m.kv_heads > 1 && m.group() > 1; },
       {},
       [](Operations* o) { o->attention = interleaved_groups; }},
  };
}

}  // namespace nmc::test
