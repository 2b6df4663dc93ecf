// Status and Result: how everything outside `assert` reports failure.
//
// A message is a whole sentence for the person who can act on it: it names the file, tensor or
// field, says what was expected and what to do. Programmer errors are asserts, never a Status.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace nmc {

enum class StatusCode {
  kOk,
  kInvalidArgument,  // the caller's input is wrong (HTTP 400, exit code 2)
  kUnsupported,      // well-formed input that asks for something nmc does not do
  kNotFound,         // a file, tensor or field is missing
  kCorrupt,          // bytes on disk contradict their own format
  kIo,               // the operating system refused
  kExhausted,        // no room now; trying later can succeed
  kCancelled,        // the user or client went away
  kInternal,         // a device or an invariant failed; the engine cannot go on
};

// The name of a code as shown to users, e.g. "invalid argument".
const char* to_string(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
    assert(code != StatusCode::kOk);
  }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with `context: ` in front of its sentence; ok stays ok.
  Status with_context(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status invalid_argument(std::string m) {
  return {StatusCode::kInvalidArgument, std::move(m)};
}
inline Status unsupported(std::string m) {
  return {StatusCode::kUnsupported, std::move(m)};
}
inline Status not_found(std::string m) {
  return {StatusCode::kNotFound, std::move(m)};
}
inline Status corrupt(std::string m) {
  return {StatusCode::kCorrupt, std::move(m)};
}
inline Status io_error(std::string m) {
  return {StatusCode::kIo, std::move(m)};
}
inline Status exhausted(std::string m) {
  return {StatusCode::kExhausted, std::move(m)};
}
inline Status cancelled(std::string m) {
  return {StatusCode::kCancelled, std::move(m)};
}
inline Status internal_error(std::string m) {
  return {StatusCode::kInternal, std::move(m)};
}

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  T& value() & {
    assert(ok());
    return *value_;
  }
  const T& value() const& {
    assert(ok());
    return *value_;
  }
  T&& value() && {
    assert(ok());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace nmc

// Returns the failure of `expr` (a Status) to the caller.
#define NMC_TRY(expr)                                               \
  do {                                                              \
    if (::nmc::Status nmc_s_ = (expr); !nmc_s_.ok()) return nmc_s_; \
  } while (0)

#define NMC_CONCAT_INNER(a, b) a##b
#define NMC_CONCAT(a, b) NMC_CONCAT_INNER(a, b)

// `NMC_ASSIGN(auto x, f())` takes the value of a Result or returns its failure to the caller.
#define NMC_ASSIGN(target, expr) NMC_ASSIGN_IMPL(NMC_CONCAT(nmc_r_, __LINE__), target, expr)
#define NMC_ASSIGN_IMPL(result, target, expr) \
  auto result = (expr);                       \
  if (!result.ok()) return result.status();   \
  target = std::move(result).value()
