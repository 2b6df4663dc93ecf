// Where names live while a template runs.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// One level of names. The names point into the syntax tree. A macro keeps a weak reference to the
// scope it was defined in, and the scope keeps the macro: no cycle.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<std::string_view, Value>> names;

  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope; scope = scope->parent.get()) {
      for (const auto& [known, value] : scope->names) {
        if (known == name) return &value;
      }
    }
    return nullptr;
  }

  void set(std::string_view name, Value value) {
    for (auto& [known, old] : names) {
      if (known != name) continue;
      old = std::move(value);
      return;
    }
    names.emplace_back(name, std::move(value));
  }
};

}  // namespace nmc::jinja
