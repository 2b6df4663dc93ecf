#include "runtime/text/template/value.h"

#include <algorithm>
#include <cassert>

#include "runtime/text/template/compare.h"

namespace nmc::jinja {
namespace {

// Doubling a value inside itself must not wrap its weight around.
constexpr uint64_t kHeaviest = uint64_t{1} << 60;

uint64_t add_weights(uint64_t a, uint64_t b) {
  return std::min(a + b, kHeaviest);
}

}  // namespace

Value Value::undefined(std::string why) {
  Value v;
  v.data_ = Undefined{std::make_shared<const std::string>(std::move(why))};
  return v;
}

Namespace* Value::name_space() const {
  auto* p = std::get_if<Namespace*>(&data_);
  return p ? *p : nullptr;
}

Loop* Value::loop() const {
  auto* p = std::get_if<Loop*>(&data_);
  return p ? *p : nullptr;
}

std::shared_ptr<const List> Value::shared_list() const {
  return std::get<std::shared_ptr<const List>>(data_);
}

int64_t Value::integer() const {
  assert(is_integer());
  if (auto* b = std::get_if<bool>(&data_)) return *b ? 1 : 0;
  return std::get<int64_t>(data_);
}

double Value::number() const {
  if (auto* d = std::get_if<double>(&data_)) return *d;
  return static_cast<double>(integer());
}

bool Value::truthy() const {
  if (is_undefined() || is_none()) return false;
  if (is<double>()) return number() != 0;
  if (is_integer()) return integer() != 0;
  if (text()) return !text()->empty();
  if (list()) return !list()->items.empty();
  if (dict()) return !dict()->entries.empty();
  if (loop()) return !loop()->items->items.empty();
  return true;
}

int Value::depth() const {
  if (list()) return list()->depth;
  if (dict()) return dict()->depth;
  if (callable()) return callable()->depth;
  return 0;
}

uint64_t Value::weight() const {
  if (text()) return 1 + text()->size() / 16;
  if (list()) return list()->weight;
  return dict() ? dict()->weight : 1;
}

const char* Value::type_name() const {
  if (is_undefined()) return "Undefined";
  if (is_none()) return "NoneType";
  if (is<bool>()) return "bool";
  if (is<int64_t>()) return "int";
  if (is<double>()) return "float";
  if (text()) return "str";
  if (list()) return list()->tuple ? "tuple" : "list";
  if (dict()) return "dict";
  if (name_space()) return "Namespace";
  return loop() ? "LoopContext" : "function";
}

std::string Value::undefined_reason() const {
  auto* u = std::get_if<Undefined>(&data_);
  return u && u->why ? *u->why : "a value is undefined";
}

Value List::make(std::vector<Value> items, bool tuple) {
  auto list = std::make_shared<List>();
  for (const Value& v : items) {
    list->depth = std::max(list->depth, v.depth() + 1);
    list->weight = add_weights(list->weight, v.weight());
  }
  list->items = std::move(items);
  list->tuple = tuple;
  return std::shared_ptr<const List>(std::move(list));
}

Value Dict::make(std::vector<std::pair<Value, Value>> entries) {
  auto dict = std::make_shared<Dict>();
  dict->entries.reserve(entries.size());
  for (auto& [key, value] : entries) {
    dict->depth = std::max({dict->depth, key.depth() + 1, value.depth() + 1});
    dict->weight = add_weights(dict->weight, key.weight() + value.weight());
    if (const Value* old = dict->find(key)) {
      *const_cast<Value*>(old) = std::move(value);  // ours, and not yet shared
      continue;
    }
    dict->entries.emplace_back(std::move(key), std::move(value));
    const Value& kept = dict->entries.back().first;
    if (kept.text()) dict->strings_.emplace(kept.text()->bytes(), dict->entries.size() - 1);
  }
  return std::shared_ptr<const Dict>(std::move(dict));
}

const Value* Dict::find_key(std::string_view key) const {
  auto it = strings_.find(key);
  return it == strings_.end() ? nullptr : &entries[it->second].second;
}

const Value* Dict::find(const Value& key) const {
  if (key.text()) return find_key(key.text()->bytes());
  if (strings_.size() == entries.size()) return nullptr;
  for (const auto& [k, v] : entries) {
    if (equal(k, key)) return &v;
  }
  return nullptr;
}

Value Callable::make(std::string name, std::function<Result<Value>(Interpreter&, Arguments)> call,
                     int depth) {
  return std::shared_ptr<const Callable>(
      new Callable{.name = std::move(name), .depth = depth, .call = std::move(call)});
}

}  // namespace nmc::jinja
