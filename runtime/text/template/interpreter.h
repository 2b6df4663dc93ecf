// Walks the tree of a template once, with the variables of one request.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/text/template/heap.h"
#include "runtime/text/template/scope.h"
#include "runtime/text/template/template.h"
#include "runtime/text/template/tree.h"

namespace nmc::jinja {

// One rendering; not thread-safe. The template and the variables must outlive it.
class Interpreter : public Heap {
 public:
  // `variables` is a dict.
  Interpreter(const Template& source, const Value& variables)
      : Heap(source.options.limits), template_(source), variables_(variables) {}

  Result<RenderedPrompt> run();

  // For built-ins.
  Result<Value> call(const Value& callable, Arguments arguments);
  Result<Value> apply_filter(const std::string& name, const Value& input, Arguments arguments);
  Result<bool> apply_test(const std::string& name, const Value& input, Arguments arguments);
  // The failure that `raise_exception` asks for; it is reported without a line.
  Status raise(const std::string& message);
  std::tm now() const;

 private:
  enum class Flow { kNext, kBreak, kContinue };
  friend class NestedScope;
  friend class NestedOutput;

  // Statements, interpret_statement.cpp, interpret_loop.cpp and interpret_macro.cpp.
  Result<Flow> execute(const Body& body);
  Result<Flow> execute(const Statement& s);
  Result<Flow> execute_in_scope(const Body& body);
  Status print(const Value& v);
  Status emit(const MarkedText& text);
  Status assign(const Target& target, const Value& v);
  Status set_block(const Statement& s);
  Status filter_block(const Statement& s);
  Result<Value> capture(const Body& body);
  Result<Flow> for_loop(const Statement& s);
  Result<std::shared_ptr<const List>> loop_items(const Statement& s, const Value& over);
  Status run_loop(const Statement& s, const Value& over, int64_t level);
  void define_macro(const Statement& s);
  Value make_macro(std::string name, const Signature& signature, const Body& body);
  Result<Value> run_macro(const std::string& name, const Signature& signature, const Body& body,
                          std::shared_ptr<Scope> defined_in, Arguments arguments);
  Status bind_macro(const std::string& name, const Signature& signature, Arguments arguments);
  Status call_block(const Statement& s);

  // Expressions, interpret_expression.cpp.
  Result<Value> eval(const Expr& e);
  Result<Value> eval_kind(const Expr& e);
  Result<Value> eval_optional(const ExprPtr& e);
  Result<Value> lookup(const std::string& name);
  Result<Value> eval_items(const Expr& e);
  Result<Value> eval_dict(const Expr& e);
  Result<Value> eval_logic(const Expr& e);
  Result<Value> eval_binary(const Expr& e);
  Result<Value> eval_concat(const Expr& e);
  Result<Value> eval_compare(const Expr& e);
  Result<Value> eval_conditional(const Expr& e);
  Result<Value> eval_subscript(const Expr& e);
  Result<Value> eval_slice(const Expr& e);
  Result<Value> eval_call(const Expr& e);
  Result<Value> eval_filter(const Expr& e, const Value& input);
  Result<Value> eval_filter_chain(const Expr& e, const Value& head);
  Result<Value> eval_test(const Expr& e);
  Result<Arguments> eval_arguments(const CallSyntax& call);
  Status enter();

  const Template& template_;
  const Value& variables_;
  std::shared_ptr<Scope> scope_;
  MarkedText* out_ = nullptr;
  int line_ = 1;   // of the node at work, for errors
  int depth_ = 0;  // of evaluation
  bool raised_ = false;
};

// Gives the interpreter a fresh scope, below its current one unless told otherwise, and takes it
// back at the end of the block.
class NestedScope {
 public:
  explicit NestedScope(Interpreter& in) : NestedScope(in, in.scope_) {}
  NestedScope(Interpreter& in, std::shared_ptr<Scope> parent)
      : in_(in), outer_(std::move(in.scope_)) {
    in.scope_ = std::make_shared<Scope>();
    in.scope_->parent = std::move(parent);
  }
  ~NestedScope() { in_.scope_ = std::move(outer_); }
  NestedScope(const NestedScope&) = delete;
  NestedScope& operator=(const NestedScope&) = delete;

 private:
  Interpreter& in_;
  std::shared_ptr<Scope> outer_;
};

// Sends the interpreter's output to a text of its own until the end of the block.
class NestedOutput {
 public:
  explicit NestedOutput(Interpreter& in) : in_(in), outer_(in.out_) { in.out_ = &text; }
  ~NestedOutput() { in_.out_ = outer_; }
  NestedOutput(const NestedOutput&) = delete;
  NestedOutput& operator=(const NestedOutput&) = delete;

  MarkedText text;

 private:
  Interpreter& in_;
  MarkedText* outer_;
};

}  // namespace nmc::jinja
