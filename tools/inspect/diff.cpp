#include "tools/inspect/diff.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/bf16.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/text.h"
#include "runtime/model/config.h"
#include "tools/inspect/report.h"

namespace nmc {
namespace {

using Lines = std::vector<std::string>;

// Every value below `first` and `second` that is not the same, with its path.
void diff_json(const std::string& path, const Json& first, const Json& second, Lines* lines) {
  if (first.is_object() && second.is_object()) {
    Json keys = first;
    keys.update(second);
    for (const auto& [key, value] : keys.items()) {
      diff_json(path.empty() ? key : path + "." + key, first.value(key, Json()),
                second.value(key, Json()), lines);
    }
  } else if (first.is_array() && second.is_array() && first.size() == second.size()) {
    for (size_t i = 0; i < first.size(); ++i) {
      diff_json(path + "[" + std::to_string(i) + "]", first[i], second[i], lines);
    }
  } else if (first != second) {
    lines->push_back("model " +
                     printable(path + ": " + dump_json(first) + " → " + dump_json(second)));
  }
}

void diff_embedded(const Header& first, const Header& second, Lines* lines) {
  for (const auto& [name, file] : first.files) {
    const auto other = second.files.find(name);
    if (other == second.files.end()) {
      lines->push_back("file " + printable(name) + ": only in the first");
    } else if (file.checksum != other->second.checksum || file.bytes != other->second.bytes) {
      lines->push_back("file " + printable(name) + ": differs, " + std::to_string(file.bytes) +
                       " → " + std::to_string(other->second.bytes) + " bytes");
    }
  }
  for (const auto& [name, file] : second.files) {
    if (!first.files.contains(name)) {
      lines->push_back("file " + printable(name) + ": only in the second");
    }
  }
}

bool same_shape(const TensorEntry& a, const TensorEntry& b) {
  return a.layout == b.layout && a.order == b.order && a.row_block == b.row_block &&
         a.count == b.count && a.rows == b.rows && a.cols == b.cols;
}

std::string shape_of(const TensorEntry& t) {
  std::string text = "[" + std::to_string(t.rows) + ", " + std::to_string(t.cols) + "]";
  if (t.count > 1) text.insert(1, std::to_string(t.count) + ", ");
  return text;
}

// How many values of two tensors of one shape differ, and by how much. Padding is zero in both.
std::string diff_values(const ModelFile& first, const TensorEntry& a, const ModelFile& second,
                        const TensorEntry& b) {
  const Bf16 *x = first.matrix(a), *y = second.matrix(b);
  uint64_t different = 0;
  double largest = 0;
  bool not_numbers = false;
  const uint64_t values = a.bytes() / sizeof(Bf16);
  for (uint64_t i = 0; i < values; ++i) {
    if (i % (1 << 20) == 0 && interrupted()) return "";
    if (x[i] == y[i]) continue;
    ++different;
    const double distance = std::abs(double{bf16_to_float(x[i])} - double{bf16_to_float(y[i])});
    not_numbers |= std::isnan(distance);
    largest = std::max(largest, distance);
  }
  return format("%llu of %llu values differ, by up to %.6g",
                static_cast<unsigned long long>(different),
                static_cast<unsigned long long>(a.count * a.rows * a.cols), largest) +
         (not_numbers ? " and some are no numbers" : "");
}

void diff_tensors(const ModelFile& first, const ModelFile& second, Lines* lines) {
  for (const TensorEntry& a : first.header().tensors) {
    const TensorEntry* b = second.find(a.name);
    const std::string name = "tensor " + printable(a.name) + ": ";
    if (b == nullptr) {
      lines->push_back(name + "only in the first");
    } else if (!same_shape(a, *b)) {
      lines->push_back(name + shape_of(a) + " → " + shape_of(*b) + ", or another order");
    } else if (a.checksum != b->checksum) {
      lines->push_back(name + diff_values(first, a, second, *b));
    }
  }
  for (const TensorEntry& b : second.header().tensors) {
    if (first.find(b.name) == nullptr) {
      lines->push_back("tensor " + printable(b.name) + ": only in the second");
    }
  }
}

}  // namespace

std::vector<std::string> diff_files(const ModelFile& first, const ModelFile& second) {
  Lines lines;
  diff_json("", description_to_json(first.model()), description_to_json(second.model()), &lines);
  diff_embedded(first.header(), second.header(), &lines);
  diff_tensors(first, second, &lines);
  return lines;
}

}  // namespace nmc
