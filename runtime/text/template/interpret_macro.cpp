// {% macro %} and {% call %}.
#include <algorithm>

#include "runtime/text/template/interpreter.h"

namespace nmc::jinja {

void Interpreter::define_macro(const Statement& s) {
  scope_->set(s.name, make_macro(s.name, *s.signature, s.body));
}

Value Interpreter::make_macro(std::string name, const Signature& signature, const Body& body) {
  std::weak_ptr<Scope> around = scope_;
  auto run = [name, &signature, &body, around](Interpreter& in, Arguments arguments) {
    return in.run_macro(name, signature, body, around.lock(), std::move(arguments));
  };
  return Callable::make(std::move(name), std::move(run));
}

Result<Value> Interpreter::run_macro(const std::string& name, const Signature& signature,
                                     const Body& body, std::shared_ptr<Scope> defined_in,
                                     Arguments arguments) {
  if (!defined_in) {
    return invalid_argument("macro '" + name + "' is called outside of the block that defines it");
  }
  NestedScope scope(*this, std::move(defined_in));
  NestedOutput output(*this);
  NMC_TRY(bind_macro(name, signature, std::move(arguments)));
  NMC_TRY(execute(body).status());
  return Value(std::move(output.text));
}

// Fills the macro's own scope. Defaults are evaluated there, so they see earlier parameters.
Status Interpreter::bind_macro(const std::string& name, const Signature& signature,
                               Arguments arguments) {
  size_t count = signature.names.size(), first_default = count - signature.defaults.size();
  size_t given = std::min(count, arguments.positional.size());
  auto& named = arguments.named;
  for (size_t i = 0; i < count; ++i) {
    const std::string& parameter = signature.names[i];
    auto by_name = std::find_if(named.begin(), named.end(),
                                [&](const auto& entry) { return entry.first == parameter; });
    if (i < given) {
      scope_->set(parameter, arguments.positional[i]);
    } else if (by_name != named.end()) {
      scope_->set(parameter, std::move(by_name->second));
      named.erase(by_name);
    } else if (i >= first_default) {
      NMC_ASSIGN(Value v, eval(*signature.defaults[i - first_default]));
      scope_->set(parameter, std::move(v));
    } else {
      scope_->set(parameter, Value::undefined("parameter '" + parameter + "' was not provided"));
    }
  }
  if (signature.takes_caller) {
    auto caller = std::find_if(named.begin(), named.end(),
                               [](const auto& entry) { return entry.first == "caller"; });
    if (caller != named.end()) {
      scope_->set("caller", std::move(caller->second));
      named.erase(caller);
    } else if (std::find(signature.names.begin(), signature.names.end(), "caller") ==
               signature.names.end()) {
      scope_->set("caller",
                  Value::undefined("macro '" + name + "' was not called by a call block"));
    }
  }
  if (signature.takes_kwargs) {
    std::vector<std::pair<Value, Value>> rest;
    for (auto& [key, value] : named) rest.emplace_back(Value(key), std::move(value));
    NMC_ASSIGN(Value kwargs, make_dict(std::move(rest)));
    scope_->set("kwargs", std::move(kwargs));
  } else if (!named.empty()) {
    return invalid_argument("macro '" + name + "' has no parameter '" + named[0].first + "'");
  }
  if (signature.takes_varargs) {
    std::vector<Value> rest(arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                            arguments.positional.end());
    NMC_ASSIGN(Value varargs, make_list(std::move(rest), true));
    scope_->set("varargs", std::move(varargs));
  } else if (arguments.positional.size() > count) {
    return invalid_argument("macro '" + name + "' takes at most " + std::to_string(count) +
                            " arguments");
  }
  return {};
}

Status Interpreter::call_block(const Statement& s) {
  NMC_ASSIGN(Value macro, eval(*s.expr->operands[0]));
  NMC_ASSIGN(Arguments arguments, eval_arguments(s.expr->call));
  arguments.named.emplace_back("caller", make_macro("caller", *s.signature, s.body));
  NMC_ASSIGN(Value text, call(macro, std::move(arguments)));
  return print(text);
}

}  // namespace nmc::jinja
