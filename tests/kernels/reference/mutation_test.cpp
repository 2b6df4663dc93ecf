// Proof that the golden comparison can fail: every plausible misreading of cohere2_moe has to move
// the logits of each golden model it matters to, far beyond the tolerance.
#include "tests/kernels/reference/mutation.h"
#include "tests/kernels/reference/golden_fixture.h"

namespace nmc::test {
namespace {

class Mutations : public testing::TestWithParam<Mutation> {};

// The golden models as files, converted once for all mutations.
struct Loaded {
  std::string name;
  std::shared_ptr<const ModelFile> file;
  std::vector<GoldenPrompt> prompts;  // the first one only: a mutation shows at once
};
const std::vector<Loaded>& loaded_models() {
  static const std::vector<Loaded> models = [] {
    std::vector<Loaded> all;
    for (const GoldenModel& golden : golden_models()) {
      all.push_back({golden.name, convert_to_model(golden.checkpoint), {golden.prompts()[0]}});
    }
    return all;
  }();
  return models;
}

TEST_P(Mutations, MovesTheLogitsOfEveryModelItMattersTo) {
  int mattered = 0;
  for (const Loaded& model : loaded_models()) {
    if (!GetParam().matters(model.file->model())) continue;
    ++mattered;
    std::shared_ptr<const ModelFile> file = model.file;
    if (GetParam().description) {
      ModelDescription changed = file->model();
      GetParam().description(&changed);
      file = with_description(*file, changed);
    }
    reference::Operations operations;
    if (GetParam().operations) GetParam().operations(&operations);
    const auto tokens = static_cast<int64_t>(model.prompts[0].ids.size());
    const Deviation deviation = logits_deviation(
        file, model.prompts, float32_tolerance(model.file->model(), tokens), operations);
    EXPECT_GT(deviation.error, 10 * deviation.tolerance) << model.name << ": " << deviation;
    std::cout << model.name << ": " << deviation << "\n";
  }
  EXPECT_GT(mattered, 0) << "no golden model would notice";
}

INSTANTIATE_TEST_SUITE_P(All, Mutations, testing::ValuesIn(mutations()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace nmc::test
