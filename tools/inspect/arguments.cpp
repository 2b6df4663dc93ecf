#include "tools/inspect/arguments.h"

#include "runtime/base/command_line.h"

namespace nmc {
namespace {

void add_file_options(CLI::App* app, InspectArguments* a) {
  const char* group = "The file";
  app->add_flag("--json", a->json, "Print everything as one JSON object")->group(group);
  app->add_flag("--check", a->check, "Read the whole file and compare all checksums")->group(group);
  app->add_option("--verify", a->checkpoint,
                  "Prove that every value equals that of this checkpoint folder")
      ->type_name("FOLDER")
      ->group(group);
  app->add_option("--diff", a->other,
                  "Print what differs from this other .nmc file; exit code 1 when something does")
      ->type_name("FILE")
      ->group(group);
  app->add_option("--threads", a->threads, "Worker threads (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->group(group);
}

void add_plan_options(CLI::App* app, InspectArguments* a) {
  const char* group = "The plan of a decode step";
  auto* plan = app->add_flag("--plan", a->plan,
                             "Print one worker's task list and how evenly bytes are spread; with "
                             "--json everything")
                   ->group(group);
  app->add_option("--workers", a->workers, "SMs or threads (default: 128)")
      ->check(CLI::Range(1, 4096))
      ->needs(plan)
      ->group(group);
  app->add_option("--worker", a->worker, "Whose list to print (default: 0)")
      ->needs(plan)
      ->group(group);
  app->add_option("--batch", a->batch, "Rows of a step (default: 1)")
      ->check(CLI::Range(1, 4096))
      ->needs(plan)
      ->group(group);
  app->add_option("--context", a->context, "Tokens of each sequence (default: 8192)")
      ->check(CLI::Range(1, 1 << 30))
      ->needs(plan)
      ->group(group);
}

// An option with the path of a file that is read, or - for standard input.
CLI::Option* add_input(CLI::App* app, const char* name, std::string* path, const char* group,
                       const char* help) {
  const auto not_empty = [](const std::string& value) {
    return std::string(value.empty() ? "the file has no name" : "");
  };
  return app->add_option(name, *path, help)->check(not_empty)->type_name("FILE")->group(group);
}

void add_token_options(CLI::App* app, InspectArguments* a) {
  const char* group = "Tokens";
  auto* tokenize = add_input(app, "--tokenize", &a->tokenize, group,
                             "Print the ids of this text; with --json as a list");
  app->add_flag("--special", a->special, "Markers in the text become their ids")
      ->needs(tokenize)
      ->group(group);
  app->add_flag("--bos", a->bos, "Add the ids that the model wants around a text")
      ->needs(tokenize)
      ->group(group);
  add_input(app, "--detokenize", &a->detokenize, group, "Print the bytes of these ids");
}

void add_chat_options(CLI::App* app, InspectArguments* a) {
  const char* group = "Chat";
  auto* chat = add_input(app, "--template", &a->chat, group,
                         "Print the prompt of this chat request, or list of messages; with --json "
                         "as {\"prompt\": ...}");
  app->add_flag("--tokens", a->tokens, "Print the prompt's ids; with --json as a list")
      ->needs(chat)
      ->group(group);
  auto* output = add_input(app, "--parse", &a->output, group,
                           "Print what this output of the model means, one JSON event a line");
  app->add_option("--reasoning", a->reasoning,
                  "on: the output starts inside its reasoning (default: off)")
      ->type_name("on|off")
      ->transform(CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}})
                      .description(""))
      ->needs(output)
      ->group(group);
}

void add_grammar_options(CLI::App* app, InspectArguments* a) {
  const char* group = "Grammar";
  auto* schema = add_input(app, "--grammar", &a->schema, group, "Compile this JSON Schema");
  add_input(app, "--text", &a->text, group,
            "Say whether the schema accepts this text, of which every byte counts, or which is "
            "the first byte that cannot follow")
      ->needs(schema);
  app->add_flag("--mask-bench", a->mask_bench,
                "Print how long compiling and the masks of a random walk take")
      ->needs(schema)
      ->group(group);
}

// What cannot stand together, beyond what each option needs.
void check_combination(const CLI::App& app, const InspectArguments& a) {
  const auto refuse = [](const std::string& one, const std::string& other) {
    throw CLI::ValidationError(one, "cannot be combined with " + other);
  };
  std::string job;
  for (const char* name : {"--check", "--verify", "--diff", "--plan", "--tokenize", "--detokenize",
                           "--template", "--parse", "--grammar"}) {
    if (app.count(name) == 0) continue;
    if (!job.empty() && name != std::string("--verify")) refuse(job, name);
    job = name;
  }
  const bool as_json = job.empty() || job == "--plan" || job == "--tokenize" || job == "--template";
  if (app.count("--json") > 0 && !as_json) refuse("--json", job);
  if (a.worker >= a.workers) throw CLI::ValidationError("--worker", "must be below --workers");
  if (a.schema == "-" && a.text == "-") {
    throw CLI::ValidationError("--grammar", "and --text cannot both be standard input");
  }
}

}  // namespace

InspectArguments parse_inspect_arguments(int argc, char** argv) {
  CLI::App app(
      "Shows what a .nmc model file holds and checks it, or does one thing that the server does "
      "with text. Where a FILE is asked for, - is standard input.",
      "inspect");
  InspectArguments a;
  app.add_option("MODEL", a.model, "The .nmc file")->required();
  add_file_options(&app, &a);
  add_plan_options(&app, &a);
  add_token_options(&app, &a);
  add_chat_options(&app, &a);
  add_grammar_options(&app, &a);
  app.footer(
      "Exit codes: 0; 1 when something is wrong with a file or a text is not accepted; 2 for a "
      "wrong\n"
      "command line.");
  parse_command_line(&app, argc, argv, [&] { check_combination(app, a); });
  return a;
}

}  // namespace nmc
