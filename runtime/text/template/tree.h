// The syntax tree. Built by the parser, immutable afterwards.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

// f(positional, name=value, *star, **double_star)
struct CallSyntax {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star, double_star;
};

struct Expr {
  enum class Kind {
    kConstant,     // value
    kName,         // name
    kList,         // operands
    kTuple,        // operands
    kDict,         // operands: key, value, key, value, ...
    kNot,          // operands[0]
    kNegate,       // operands[0]
    kPlus,         // operands[0]
    kAnd,          // operands[0], operands[1]
    kOr,           // operands[0], operands[1]
    kBinary,       // name is + - * / // % **
    kConcat,       // operands joined as text
    kCompare,      // operands[0] operators[0] operands[1] operators[1] ...
    kConditional,  // operands: condition, then, else (null when absent)
    kAttribute,    // operands[0].name
    kSubscript,    // operands[0][operands[1]]
    kSlice,        // operands[0][operands[1]:operands[2]:operands[3]], nulls when absent
    kCall,         // operands[0](call)
    kFilter,       // operands[0] | name(call); operands[0] is null at the head of a block's filter
    kTest,         // operands[0] is name(call)
  };

  Kind kind = Kind::kConstant;
  int line = 1;
  int depth = 1;  // levels below and with this one
  Value value;
  std::string name;
  std::vector<std::string> operators;
  std::vector<ExprPtr> operands;
  CallSyntax call;
};

// What an assignment writes to: a name, an attribute of a namespace, or several of them.
struct Target {
  std::string name;
  std::string attribute;
  std::vector<Target> parts;  // non-empty: a tuple, name is unused
};

struct Statement;
using Body = std::vector<Statement>;

// Of a macro or call block.
struct Signature {
  std::vector<std::string> names;
  std::vector<ExprPtr> defaults;  // for the last names
  bool takes_varargs = false, takes_kwargs = false, takes_caller = false;
};

struct Branch {
  ExprPtr condition;  // null: else
  Body body;
};

struct Statement {
  enum class Kind {
    kData,         // data
    kPrint,        // expr
    kIf,           // branches
    kFor,          // for target in expr if condition: body, else_body; recursive
    kSet,          // target = expr
    kSetBlock,     // target = body filtered by expr (may be null)
    kMacro,        // name, signature, body
    kCallBlock,    // expr is the call; signature and body make `caller`
    kFilterBlock,  // body filtered by expr
    kWith,         // assignments, then body in a scope of its own
    kScope,        // body in a scope of its own
    kBreak,
    kContinue,
  };

  Kind kind = Kind::kData;
  int line = 1;
  MarkedText data;
  std::string name;
  ExprPtr expr, condition;
  Target target;
  std::vector<std::pair<Target, ExprPtr>> assignments;
  std::vector<Branch> branches;
  std::shared_ptr<const Signature> signature;
  Body body, else_body;
  bool recursive = false;
};

}  // namespace nmc::jinja
