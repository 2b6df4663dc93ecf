// Times the rows path over prompts, on synthetic weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/model/description.h"

namespace nmc::cuda {

struct PromptCase {
  int64_t tokens = 2048, depth = 0;  // `depth`: earlier tokens of noise
  int repeats = 5;
};

struct PromptReport {
  std::vector<double> seconds;  // of the whole prompt with its last token's logits; ascending
  // Of the products with weights, in a run of its own in which operations do not overlap.
  double linear_operations = 0;  // multiplications and additions
  double linear_seconds = 0, attention_seconds = 0;
};

// Multiplications and additions of one call of a product of RowsForward, by its name in
// OperationTimes, over `rows` rows; 0 for what is no product with weights.
double product_operations(const ModelDescription& model, const std::string& name, int64_t rows);

// Holds the weights of a model on the current device. One thread at a time.
class PromptMeter {
 public:
  // kUnsupported without a fitting GPU or model.
  static Result<PromptMeter> create(const ModelDescription& model);
  PromptMeter(PromptMeter&&) noexcept;
  PromptMeter& operator=(PromptMeter&&) noexcept;
  ~PromptMeter();

  Result<PromptReport> measure(const PromptCase& c);

 private:
  struct State;
  struct Prompt;
  explicit PromptMeter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nmc::cuda
