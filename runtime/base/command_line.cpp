#include "runtime/base/command_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "runtime/base/standard_output.h"
#include "runtime/base/text.h"

namespace nmc {
namespace {

constexpr size_t kWidth = 100, kTextColumn = 30;  // of --help

// `text` in lines of up to `width` characters, of which all but the first begin with `indent`
// blanks.
std::string wrapped(const std::string& text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (word.empty()) continue;
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// "-c, --ctx-size N": the library's type name goes on with what its checks say of themselves.
std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::string names = CLI::detail::find_and_replace(option.get_name(false, true), ",", ", ");
  if (option.get_type_size() == 0) return names;  // a flag
  const std::string type = option.get_type_name();
  const std::string value = type.substr(0, type.find(':'));
  return names + " " + (value == "INT" || value == "UINT" || value == "FLOAT" ? "N" : value);
}

std::string text_of(const CLI::Option& option) {
  std::vector<std::string> notes;
  for (const CLI::Option* needed : option.get_needs())
    notes.push_back("with " + needed->get_name());
  if (option.get_required() && !option.get_positional()) notes.push_back("required");
  std::string value = option.get_default_str();
  std::erase_if(value, [](char c) { return c == '[' || c == ']'; });  // of a list
  if (!value.empty()) notes.push_back("default: " + value);
  std::string text = option.get_description();
  if (!notes.empty()) text += " (" + CLI::detail::join(notes, "; ") + ")";
  if (!option.get_envname().empty()) text += " [" + option.get_envname() + "]";
  return text;
}

std::string lines_of(const CLI::Option& option) {
  const std::string names = "  " + names_of(option);
  const bool fits = names.size() + 2 <= kTextColumn;
  return names + (fits ? "" : "\n") + std::string(kTextColumn - (fits ? names.size() : 0), ' ') +
         wrapped(text_of(option), kTextColumn, kWidth) + "\n";
}

using Options = std::vector<const CLI::Option*>;

std::string section(const std::string& heading, const Options& options) {
  if (options.empty()) return "";
  std::string out = "\n" + heading + ":\n";
  for (const CLI::Option* option : options) out += lines_of(*option);
  return out;
}

Options options_in(const CLI::App& app, const std::string& group) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && option->nonpositional() &&
           (app.get_parent() == nullptr || option != app.get_help_ptr());
  });
}

std::string usage_of(const CLI::App& app) {
  std::string out = std::string("Usage: ") + program_name() + " [OPTIONS]";
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string name = names_of(*option);
    out += option->get_required() ? " " + name : " [" + name + "]";
  }
  return out + "\n";
}

// Shows --help as help_text does.
class HelpFormat : public CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return help_text(*app);
  }
};

}  // namespace

std::string help_text(const CLI::App& app) {
  const std::string rest = "Options";  // where the library puts what is in no group
  std::string out = usage_of(app) + "\n";
  for (const std::string& line : CLI::detail::split(app.get_description(), '\n')) {
    out += wrapped(line, 0, kWidth) + "\n";
  }
  out += section("Arguments",
                 app.get_options([](const CLI::Option* o) { return o->get_positional(); }));
  for (const std::string& group : app.get_groups()) {
    if (group != rest) out += section(group, options_in(app, group));
  }
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    out += section(group->get_group() + (group->get_require_option_min() > 0 ? ", one of" : ""),
                   options_in(*group, rest));
  }
  out += section(rest, options_in(app, rest));
  return app.get_footer().empty() ? out : out + "\n" + app.get_footer() + "\n";
}

void usage_error(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s; see %s --help\n", program_name(), sentence.c_str(), program_name());
  std::exit(kUsage);
}

void parse_command_line(CLI::App* app, int argc, char** argv, const std::function<void()>& check,
                        const std::map<std::string, std::string>& longer) {
  app->formatter(std::make_shared<HelpFormat>());
  app->set_help_flag("-h,--help", "Print this and leave");
  app->set_version_flag("--version", std::string("nmc ") + NMC_VERSION,
                        "Print the version and leave");
  if (app->get_footer().empty()) {
    app->footer(
        "Exit codes: 0; 1 when something failed, with a sentence on standard error; 2 for a wrong\n"
        "command line; 130 after Ctrl-C.");
  }
  std::vector<std::string> words;  // the library wants them backwards
  for (int i = argc - 1; i > 0; --i) {
    const auto found = longer.find(argv[i]);
    words.push_back(found == longer.end() ? argv[i] : found->second);
  }
  try {
    app->parse(words);
    if (check) check();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) std::exit(exit_code_after_output(app->exit(e)));
    usage_error(e.what());
  }
}

CLI::Validator number_between(double least, double most, const char* of) {
  const std::string range = std::isinf(most)
                                ? format("must be a number%s, at least %g", of, least)
                                : format("must be a number%s, %g to %g", of, least, most);
  auto check = [least, most, range](const std::string& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool ok =
        !text.empty() && *end == '\0' && std::isfinite(value) && value >= least && value <= most;
    return ok ? std::string() : range;
  };
  return CLI::Validator(check, range);
}

}  // namespace nmc
