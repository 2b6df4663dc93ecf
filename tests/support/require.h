// For what a test takes for granted: the value, or an exception that fails the test with the
// sentence.
#pragma once

#include <stdexcept>
#include <utility>

#include "runtime/base/status.h"

namespace nmc::test {

template <typename T>
T require(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return std::move(result).value();
}

inline void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

}  // namespace nmc::test
