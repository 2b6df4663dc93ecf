// The state of one schema's compilation; its parts stand in schema_*.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/text/grammar/counted_text.h"
#include "runtime/text/grammar/number_range.h"
#include "runtime/text/grammar/schema.h"

namespace nmc {

class SchemaCompiler {
 public:
  SchemaCompiler(GrammarBuilder& builder, const JsonRules& rules, const Json& root,
                 std::string where)
      : b_(builder), rules_(rules), root_(root), where_(std::move(where)) {}

  // `path`: JSON pointer below the root, for errors. Returns an expression for the whole value.
  Result<ExprId> compile(const Json& schema, const std::string& path);

 private:
  // schema.cpp
  // As a rule of its own, which equal schemas of all tools share.
  Result<ExprId> compile_rule(const Json& schema, const std::string& path);
  Result<ExprId> compile_reference(const Json& schema, const std::string& path);
  Result<ExprId> compile_constants(const Json& values, const Json& schema, const std::string& path);
  Result<ExprId> compile_types(const Json& schema, const std::string& path);
  Result<ExprId> compile_type(const std::string& type, const Json& schema, const std::string& path);
  Status check_keywords(const Json& schema, const std::string& path) const;

  // schema_combine.cpp
  Result<ExprId> compile_any_of(const char* keyword, const Json& schema, const std::string& path);
  Result<Json> merge_all_of(const Json& schema, const std::string& path) const;

  // schema_object.cpp
  struct Property {
    std::string name;
    ExprId value;
    bool required;
  };
  Result<ExprId> compile_object(const Json& schema, const std::string& path);
  Result<std::vector<Property>> read_properties(const Json& schema, const std::string& path);
  Result<std::optional<ExprId>> read_additional(const Json& schema, const std::string& path);
  ExprId object_members(const std::vector<Property>& properties, std::optional<ExprId> additional,
                        const std::string& path);
  ExprId other_key(const std::vector<std::string>& names, size_t depth);

  // schema_array.cpp
  Result<ExprId> compile_array(const Json& schema, const std::string& path);

  // schema_scalar.cpp
  Result<ExprId> compile_string(const Json& schema, const std::string& path);
  Result<ExprId> counted_characters(const CountedClass& text, const std::string& path);
  Result<ExprId> compile_number(const Json& schema, const std::string& path, bool integer);

  // A list of schemas or values: at least one, and not so many that matching them gets slow.
  Status check_list(const Json& list, const std::string& path) const;

  Status refuse(const std::string& path, const std::string& why) const {
    return invalid_argument(where_ + path + ": " + why);
  }
  Result<std::optional<int64_t>> count(const Json& schema, const char* keyword,
                                       const std::string& path) const;
  // A rule of its own for an expression that is used from several places.
  ExprId shared(const std::string& name, ExprId body) { return b_.call(b_.rule(name, body)); }

  GrammarBuilder& b_;
  const JsonRules& rules_;
  const Json& root_;
  const std::string where_;
  std::map<std::string, RuleId> references_;  // by JSON pointer
  int depth_ = 0;
  int64_t schemas_ = 0;  // compiled so far
};

}  // namespace nmc
