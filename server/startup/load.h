// From a .nmc file to a model that can be served.
#pragma once

#include <memory>

#include "server/api/served_model.h"
#include "server/startup/options.h"

namespace nmc::startup {

struct Loaded {
  std::unique_ptr<api::ServedModel> model;
  uint64_t kv_bytes = 0;  // of keys and values, on all devices together
  int64_t slots = 0;      // requests that can run at once
};

// Errors are whole sentences that name the file or the field.
Result<Loaded> load(const Options& options);

}  // namespace nmc::startup
