// Misreadings of cohere2_moe, made on purpose.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/reference/operations.h"
#include "runtime/model/description.h"

namespace nmc::test {

struct Mutation {
  std::string name;
  // Whether the mutation changes anything in this model; some golden model must answer yes.
  std::function<bool(const ModelDescription&)> matters;
  // Either may be empty.
  std::function<void(ModelDescription*)> description;
  std::function<void(reference::Operations*)> operations;
};

std::vector<Mutation> mutations();

}  // namespace nmc::test
