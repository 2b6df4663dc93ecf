// Filters that order: sort, dictsort, unique, min, max, groupby.
#include <algorithm>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/compare.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/path.h"
#include "runtime/text/template/text_edit.h"

namespace nmc::jinja {
namespace {

// An item with what it is ordered by.
struct Keyed {
  Value key;
  Value item;
};

// Strings are ordered without regard to case unless asked otherwise.
Value folded(Value key, bool case_sensitive) {
  return key.text() && !case_sensitive ? Value(lower(*key.text())) : key;
}

Result<std::vector<Keyed>> keyed(Interpreter& in, const Value& input, const Value& attribute,
                                 bool case_sensitive) {
  NMC_ASSIGN(auto items, in.iterate(input));
  NMC_ASSIGN(Path path, Path::parse(attribute));
  std::vector<Keyed> all;
  for (const Value& item : items->items) {
    NMC_ASSIGN(Value key, path.follow(in, item));
    NMC_TRY(in.charge_bytes(sizeof(Keyed) + key.weight() * 16));
    all.push_back({folded(std::move(key), case_sensitive), item});
  }
  return all;
}

// A stable sort; the first pair that cannot be ordered is the error.
Status sort_keyed(Interpreter& in, std::vector<Keyed>* all, bool reverse) {
  uint64_t work = 0;
  for (const Keyed& k : *all) work += 1 + k.key.weight();
  NMC_TRY(in.charge_steps(work * 20));  // no list has more than 2^20 items in reach of the limits
  Status failure;
  std::stable_sort(all->begin(), all->end(), [&](const Keyed& a, const Keyed& b) {
    if (!failure.ok()) return false;
    auto r = reverse ? less(b.key, a.key) : less(a.key, b.key);
    if (!r.ok()) failure = r.status();
    return r.ok() && *r;
  });
  return failure;
}

Result<Value> items_of(Interpreter& in, std::vector<Keyed> all) {
  std::vector<Value> items;
  for (Keyed& k : all) items.push_back(std::move(k.item));
  return in.make_list(std::move(items));
}

// The paths of a sort: one, or several with commas between them.
Result<std::vector<Path>> sort_paths(const Value& attribute) {
  std::vector<Path> paths;
  std::vector<Value> names{attribute};
  if (attribute.text()) {
    names.clear();
    const std::string& s = attribute.text()->bytes();
    for (size_t at = 0; at <= s.size();) {
      size_t comma = std::min(s.find(',', at), s.size());
      names.emplace_back(s.substr(at, comma - at));
      at = comma + 1;
    }
  }
  for (const Value& name : names) {
    NMC_ASSIGN(Path path, Path::parse(name));
    paths.push_back(std::move(path));
  }
  return paths;
}

// Keys are lists, so that equal parts are never ordered: a list of nothing but none can be sorted.
Result<Value> sort(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a,
             bind("sort", std::move(arguments), {"reverse", "case_sensitive", "attribute"}));
  NMC_ASSIGN(auto paths, sort_paths(a[2]));
  NMC_ASSIGN(auto items, in.iterate(input));
  std::vector<Keyed> all;
  for (const Value& item : items->items) {
    std::vector<Value> parts;
    for (const Path& path : paths) {
      NMC_ASSIGN(Value part, path.follow(in, item));
      NMC_TRY(in.charge_bytes(part.weight() * 16));
      parts.push_back(folded(std::move(part), a[1].truthy()));
    }
    NMC_ASSIGN(Value key, in.make_list(std::move(parts)));
    all.push_back({std::move(key), item});
  }
  NMC_TRY(sort_keyed(in, &all, a[0].truthy()));
  return items_of(in, std::move(all));
}

Result<Value> dict_sort(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("dictsort", std::move(arguments), {"case_sensitive", "by", "reverse"}));
  NMC_ASSIGN(MarkedText by, text_or(a[1], "key", "the order of dictsort"));
  if (!input.dict()) return invalid_argument("dictsort needs a dict");
  if (by.bytes() != "key" && by.bytes() != "value") {
    return invalid_argument("dictsort orders by \"key\" or \"value\"");
  }
  std::vector<Keyed> all;
  for (const auto& [key, value] : input.dict()->entries) {
    const Value& order = by.bytes() == "key" ? key : value;
    NMC_TRY(in.charge_bytes(sizeof(Keyed) + order.weight() * 16));
    all.push_back({folded(order, a[0].truthy()), List::make({key, value}, true)});
  }
  NMC_TRY(sort_keyed(in, &all, a[2].truthy()));
  return items_of(in, std::move(all));
}

Result<Value> unique(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("unique", std::move(arguments), {"case_sensitive", "attribute"}));
  NMC_ASSIGN(auto all, keyed(in, input, a[1], a[0].truthy()));
  std::vector<Keyed> kept;
  for (Keyed& candidate : all) {
    NMC_TRY(in.charge_steps(kept.size() + candidate.key.weight()));
    bool known = std::any_of(kept.begin(), kept.end(),
                             [&](const Keyed& k) { return equal(k.key, candidate.key); });
    if (!known) kept.push_back(std::move(candidate));
  }
  return items_of(in, std::move(kept));
}

template <bool Greatest>
Result<Value> extreme(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("min and max", std::move(arguments), {"case_sensitive", "attribute"}));
  NMC_ASSIGN(auto all, keyed(in, input, a[1], a[0].truthy()));
  if (all.empty()) return Value::undefined("min and max of an empty sequence are undefined");
  const Keyed* best = &all[0];
  for (const Keyed& candidate : all) {
    NMC_ASSIGN(bool better,
               Greatest ? less(best->key, candidate.key) : less(candidate.key, best->key));
    if (better) best = &candidate;
  }
  return best->item;
}

// Pairs of a key and the items that have it, ordered by key.
Result<Value> group_by(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("groupby", std::move(arguments), {"attribute"}, 1));
  NMC_ASSIGN(Path path, Path::parse(a[0]));
  NMC_ASSIGN(auto all, keyed(in, input, a[0], false));
  NMC_TRY(sort_keyed(in, &all, false));
  std::vector<Value> groups;
  for (size_t i = 0; i < all.size();) {
    std::vector<Value> members;
    size_t start = i;
    for (; i < all.size() && equal(all[i].key, all[start].key); ++i) {
      members.push_back(all[i].item);
    }
    NMC_ASSIGN(Value key, path.follow(in, members[0]));
    NMC_ASSIGN(Value list, in.make_list(std::move(members)));
    NMC_ASSIGN(Value group, in.make_list({std::move(key), std::move(list)}, true));
    groups.push_back(std::move(group));
  }
  return in.make_list(std::move(groups));
}

}  // namespace

const NamedFilter kOrderFilters[] = {
    {"sort", sort},         {"dictsort", dict_sort}, {"unique", unique}, {"min", extreme<false>},
    {"max", extreme<true>}, {"groupby", group_by},   {"", nullptr},
};

}  // namespace nmc::jinja
