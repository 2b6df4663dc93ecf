// Runs a parser over a text cut in every way and tells what it said.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/dialect.h"

namespace nmc {

struct Call {
  std::string name;
  std::string arguments;
  std::string model_id;
  bool complete = true;

  bool operator==(const Call&) const = default;
};

// What the events of one response add up to. `errors` names broken promises of the event stream:
// indices out of order, events outside of a call, empty or cut texts.
struct Transcript {
  std::string reasoning;
  std::string content;
  std::vector<Call> calls;
  std::string errors;

  bool operator==(const Transcript&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Transcript& t);

Transcript summarize(const std::vector<DialectEvent>& events);

struct Reading {
  Dialect dialect = Dialect::kCmd4;
  StartMode start = StartMode::kReasoning;
  bool tools = true;
  bool cut = false;
  bool json = false;
  bool citations = false;
  std::function<ParameterKind(const std::string&, const std::string&)> parameter_kind = {};
};

// The transcript of the whole text; fails the test at hand if any other way of cutting it (at every
// byte, byte by byte, in pieces of several sizes) gives another one.
Transcript read(std::string_view text, const Reading& how = {});

}  // namespace nmc
