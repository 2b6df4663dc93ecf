#include "convert/json_members.h"

#include <unordered_set>
#include <vector>

namespace nmc {
namespace {

constexpr size_t kMaxDepth = 4;
constexpr size_t kMaxValues = 256;  // of one member

// Parser events in, members out. `depth_` counts open objects and arrays; members of interest
// stand at `member_depth_`, and `open_` is the path from such a member's value to the innermost
// container. Outside of them values are passed over.
class MemberReader : public nlohmann::json_sax<Json> {
 public:
  MemberReader(std::string_view inside, const std::string& what, const OnMember& member)
      : inside_(inside), what_(what), member_(member), member_depth_(inside.empty() ? 1 : 2) {}

  Status finish(bool parsed) const {
    if (!error_.ok()) return error_;
    if (!parsed) return corrupt(what_ + " is not valid JSON");
    if (found_) return {};
    return corrupt(what_ + (inside_.empty() ? " is not a JSON object"
                                            : " has no \"" + std::string(inside_) + "\" object"));
  }

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(int64_t v) override { return value(v); }
  bool number_unsigned(uint64_t v) override { return value(v); }
  bool number_float(double v, const std::string&) override { return value(v); }
  bool string(std::string& v) override { return value(std::move(v)); }
  bool binary(Json::binary_t&) override { return false; }  // JSON text has none
  bool start_object(size_t) override { return start(Json::object()); }
  bool start_array(size_t) override { return start(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& k) override {
    if (!open_.empty()) {
      nested_key_ = std::move(k);
      return true;
    }
    if (depth_ == 1 && member_depth_ == 2) at_inside_ = k == inside_;
    wanted_ = in_members_ && depth_ == member_depth_ && k != "__metadata__";
    if (!wanted_) return true;
    key_ = std::move(k);
    if (seen_.insert(key_).second) return true;
    return fail(corrupt(what_ + " names \"" + key_ + "\" twice"));
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail(corrupt(what_ + " is not valid JSON: error at byte " + std::to_string(position)));
  }

 private:
  bool fail(Status status) {
    error_ = std::move(status);
    return false;
  }

  // Puts a value into the innermost container; null when it has no place and is passed over.
  Json* place(Json v) {
    if (open_.empty()) return wanted_ ? &(value_ = std::move(v)) : nullptr;
    if (open_.back()->is_array()) return &open_.back()->emplace_back(std::move(v));
    return &((*open_.back())[nested_key_] = std::move(v));
  }

  bool count_value() {
    if (wanted_ && ++values_ > kMaxValues)
      return fail(corrupt(what_ + ": \"" + key_ + "\" holds too many values"));
    return true;
  }

  bool value(Json v) {
    if (!count_value()) return false;
    place(std::move(v));
    return !open_.empty() || deliver();
  }

  bool start(Json container) {
    bool is_object = container.is_object();
    if (!count_value()) return false;
    if (Json* placed = place(std::move(container))) open_.push_back(placed);
    if (open_.size() > kMaxDepth) return fail(corrupt(what_ + ": \"" + key_ + "\" nests too deep"));
    ++depth_;
    if (depth_ == member_depth_ && !wanted_) {
      in_members_ = is_object && (member_depth_ == 1 || at_inside_);
      found_ |= in_members_;
    }
    return true;
  }

  bool end() {
    if (depth_ == member_depth_) in_members_ = false;
    --depth_;
    if (open_.empty()) return true;
    open_.pop_back();
    return !open_.empty() || deliver();
  }

  bool deliver() {
    if (!wanted_) return true;
    wanted_ = false;
    values_ = 0;
    Status s = member_(key_, value_);
    return s.ok() || fail(std::move(s));
  }

  const std::string_view inside_;
  const std::string& what_;
  const OnMember& member_;
  const size_t member_depth_;

  size_t depth_ = 0, values_ = 0;
  bool at_inside_ = false;   // the key just read at depth 1 is `inside_`
  bool in_members_ = false;  // inside the object whose members are asked for
  bool wanted_ = false;      // a member's key was read and its value is not complete
  bool found_ = false;
  std::string key_, nested_key_;
  Json value_;
  std::vector<Json*> open_;
  std::unordered_set<std::string> seen_;
  Status error_;
};

}  // namespace

Status for_each_member(std::string_view text, std::string_view inside, const std::string& what,
                       const OnMember& member) {
  // The parser takes a zero byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) return corrupt(what + " holds a zero byte");
  MemberReader reader(inside, what, member);
  bool parsed = Json::sax_parse(text.begin(), text.end(), &reader);
  return reader.finish(parsed);
}

}  // namespace nmc
