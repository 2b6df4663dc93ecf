// The values of the template language: Python's, as far as templates can see them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/template/marked_text.h"

namespace nmc::jinja {

class Interpreter;
class Value;
struct Loop;

struct Undefined {
  std::shared_ptr<const std::string> why;  // a sentence for the error; may be null
};
struct None {};
struct List;
struct Dict;
struct Callable;

// Lists, tuples, dicts and strings are immutable and shared; the only mutable things are
// namespaces and loops, which the rendering owns and values point to. So values form no cycles.
struct Namespace {
  std::vector<std::pair<std::string, Value>> attributes;
};

class Value {
 public:
  Value() : data_(Undefined{}) {}
  Value(None) : data_(None{}) {}
  Value(bool b) : data_(b) {}
  Value(int64_t i) : data_(i) {}
  Value(double d) : data_(d) {}
  Value(MarkedText text) : data_(std::make_shared<const MarkedText>(std::move(text))) {}
  Value(std::string text) : Value(MarkedText(std::move(text))) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<const List> list) : data_(std::move(list)) {}
  Value(std::shared_ptr<const Dict> dict) : data_(std::move(dict)) {}
  Value(std::shared_ptr<const Callable> callable) : data_(std::move(callable)) {}
  Value(Namespace* ns) : data_(ns) {}
  Value(Loop* loop) : data_(loop) {}
  static Value undefined(std::string why);

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data_);
  }
  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }
  bool is_string() const { return text() != nullptr; }
  bool is_number() const { return is<bool>() || is<int64_t>() || is<double>(); }

  // Null when the value is of another kind.
  const MarkedText* text() const { return pointed<MarkedText>(); }
  const List* list() const { return pointed<List>(); }
  const Dict* dict() const { return pointed<Dict>(); }
  const Callable* callable() const { return pointed<Callable>(); }
  Namespace* name_space() const;
  Loop* loop() const;
  // Shared ownership of the list; the value must be one.
  std::shared_ptr<const List> shared_list() const;

  // Bools count as integers, as in Python.
  bool is_integer() const { return is<bool>() || is<int64_t>(); }
  int64_t integer() const;
  double number() const;

  bool truthy() const;
  // Levels of containers, 0 for a scalar: bounded, so that no walk over a value runs out of stack.
  int depth() const;
  // The cost of a walk over everything inside, shared parts counted as often as they are met.
  uint64_t weight() const;
  // "str", "int", "dict", ...: Python's name, for messages.
  const char* type_name() const;
  // Why an undefined value is undefined, as a sentence.
  std::string undefined_reason() const;

 private:
  template <typename T>
  const T* pointed() const {
    auto* p = std::get_if<std::shared_ptr<const T>>(&data_);
    return p ? p->get() : nullptr;
  }

  std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const MarkedText>,
               std::shared_ptr<const List>, std::shared_ptr<const Dict>,
               std::shared_ptr<const Callable>, Namespace*, Loop*>
      data_;
};

struct List {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 1;
  uint64_t weight = 1;

  static Value make(std::vector<Value> items, bool tuple = false);
};

// Keeps insertion order. Keys are strings, numbers, none or tuples.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  int depth = 1;
  uint64_t weight = 1;

  // Of a repeated key the last value counts, at the first one's place.
  static Value make(std::vector<std::pair<Value, Value>> entries);

  // Null when absent.
  const Value* find(const Value& key) const;
  const Value* find_key(std::string_view key) const;

 private:
  std::unordered_map<std::string_view, size_t> strings_;  // into the keys' own bytes
};

// The arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

struct Callable {
  std::string name;
  int depth = 0;  // of a bound method: that of its object
  std::function<Result<Value>(Interpreter&, Arguments)> call;

  static Value make(std::string name, std::function<Result<Value>(Interpreter&, Arguments)> call,
                    int depth = 0);
};

// The state of one running `for`.
struct Loop {
  std::shared_ptr<const List> items;
  size_t index = 0;
  int64_t level = 1;  // of a recursive loop
  Arguments last_changed;
  bool changed_once = false;
  std::function<Result<Value>(Interpreter&, Value)> recurse;  // empty unless `recursive`
};

}  // namespace nmc::jinja
