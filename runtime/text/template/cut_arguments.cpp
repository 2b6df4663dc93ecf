#include "runtime/text/template/cut_arguments.h"

#include "runtime/base/json.h"

namespace nmc {
namespace {

// Follows JSON and remembers the last place where closing what is open gives a whole text.
class Cut {
 public:
  void read(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (in_string_) {
        if (c == '\\') ++i;
        in_string_ = c != '"';
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        open_ += c == '{' ? '}' : ']';
        remember(i + 1);
      } else if (c == '}' || c == ']') {
        if (!open_.empty()) open_.pop_back();
        remember(i + 1);
      } else if (c == ',') {
        remember(i);  // what stands before it is complete
      }
    }
  }

  std::string completed(std::string_view text) const {
    return std::string(text.substr(0, end_)) + std::string(closing_.rbegin(), closing_.rend());
  }

 private:
  void remember(size_t end) {
    end_ = end;
    closing_ = open_;
  }

  bool in_string_ = false;
  std::string open_, closing_;  // the closers, outermost first
  size_t end_ = 0;
};

}  // namespace

std::optional<std::string> complete_cut_object(std::string_view text) {
  Cut cut;
  cut.read(text);
  std::string completed = cut.completed(text);
  auto json = parse_json(completed, "arguments");
  if (!json.ok() || !json->is_object()) return std::nullopt;
  return completed;
}

}  // namespace nmc
