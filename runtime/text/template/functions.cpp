#include "runtime/text/template/functions.h"

#include <array>
#include <ctime>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/interpreter.h"

namespace nmc::jinja {
namespace {

constexpr int64_t kLongestRange = 100'000;  // the sandbox's own limit

Result<Value> range(Interpreter& in, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("range", std::move(arguments), {"start", "stop", "step"}, 1));
  bool one = a[1].is_undefined();
  NMC_ASSIGN(int64_t start, one ? Result<int64_t>(int64_t{0}) : integer_or(a[0], 0, "the start"));
  NMC_ASSIGN(int64_t stop, integer_or(one ? a[0] : a[1], 0, "the end of range"));
  NMC_ASSIGN(int64_t step, integer_or(a[2], 1, "the step of range"));
  if (step == 0) return invalid_argument("the step of range must not be 0");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<int64_t>(items.size()) == kLongestRange) {
      return invalid_argument("range gives more than 100000 numbers");
    }
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return in.make_list(std::move(items));
}

// The entries that dict(...) and namespace(...) take: those of a dict, then the named ones.
Result<std::vector<std::pair<Value, Value>>> entries(Interpreter& in, Arguments arguments) {
  std::vector<std::pair<Value, Value>> all;
  if (arguments.positional.size() > 1) return invalid_argument("dict takes at most one argument");
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.dict()) {
      all = from.dict()->entries;
    } else {
      NMC_ASSIGN(auto items, in.iterate(from));
      for (const Value& item : items->items) {
        if (!item.list() || item.list()->items.size() != 2) {
          return invalid_argument("dict needs pairs of key and value");
        }
        all.emplace_back(item.list()->items[0], item.list()->items[1]);
      }
    }
  }
  for (auto& [name, value] : arguments.named) all.emplace_back(Value(name), std::move(value));
  return all;
}

Result<Value> dict(Interpreter& in, Arguments arguments) {
  NMC_ASSIGN(auto all, entries(in, std::move(arguments)));
  return in.make_dict(std::move(all));
}

Result<Value> name_space(Interpreter& in, Arguments arguments) {
  NMC_ASSIGN(Value all, dict(in, std::move(arguments)));
  Namespace* ns = in.make_namespace();
  for (const auto& [key, value] : all.dict()->entries) {
    if (!key.text()) return invalid_argument("the names of a namespace must be strings");
    ns->attributes.emplace_back(key.text()->bytes(), value);
  }
  return Value(ns);
}

// A callable that is empty at first and the separator from then on.
Result<Value> joiner(Interpreter& in, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("joiner", std::move(arguments), {"sep"}));
  NMC_ASSIGN(MarkedText separator, text_or(a[0], ", ", "the separator of joiner"));
  NMC_TRY(in.charge_bytes(sizeof(bool) + separator.size()));
  auto used = std::make_shared<bool>(false);
  return Callable::make("joiner", [used, separator](Interpreter&, Arguments) -> Result<Value> {
    if (*used) return Value(separator);
    *used = true;
    return Value("");
  });
}

Result<Value> raise_exception(Interpreter& in, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("raise_exception", std::move(arguments), {"message"}, 1));
  NMC_ASSIGN(Value message, in.to_string(a[0]));
  return in.raise(message.text()->bytes());
}

Result<Value> strftime_now(Interpreter& in, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("strftime_now", std::move(arguments), {"format"}, 1));
  NMC_ASSIGN(MarkedText format, text_of(a[0], "the format of strftime_now"));
  if (format.empty()) return Value("");
  std::tm now = in.now();
  std::array<char, 512> buffer;
  size_t n = std::strftime(buffer.data(), buffer.size(), format.bytes().c_str(), &now);
  if (n == 0) return invalid_argument("strftime_now cannot use the format it is given");
  return in.make_text(MarkedText(std::string(buffer.data(), n)));
}

}  // namespace

Function find_function(std::string_view name) {
  if (name == "range") return range;
  if (name == "dict") return dict;
  if (name == "namespace") return name_space;
  if (name == "joiner") return joiner;
  if (name == "raise_exception") return raise_exception;
  if (name == "strftime_now") return strftime_now;
  return nullptr;
}

}  // namespace nmc::jinja
