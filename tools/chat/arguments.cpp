#include "tools/chat/arguments.h"

#include <cmath>

#include "kernels/open.h"
#include "runtime/base/command_line.h"

namespace nmc {
namespace {

void add_source_options(CLI::App* app, ChatArguments* a) {
  const char* group = "Who answers";
  auto* model = app->add_option("-m,--model", a->local.model, "A .nmc file, run by this program")
                    ->envname("NMC_MODEL")
                    ->type_name("FILE")
                    ->group(group);
  app->add_option("--url", a->url, "Or an OpenAI-compatible server, such as http://127.0.0.1:8080")
      ->type_name("URL")
      ->excludes(model)
      ->group(group);
  app->add_option("--api-key", a->api_key, "What the server asks for")
      ->type_name("KEY")
      ->envname("NMC_API_KEY")
      ->group(group);
  app->add_option("--device", a->local.device,
                  "Where to compute: auto, " + executor_names() + " (default: auto)")
      ->type_name("NAME")
      ->group(group);
  app->add_option("-c,--ctx-size", a->local.context, "Tokens of a conversation (default: 8192)")
      ->check(CLI::Range(int64_t{16}, int64_t{1} << 31).description(""))
      ->type_name("N")
      ->group(group);
}

void add_prompt_options(CLI::App* app, ChatArguments* a) {
  const char* group = "What is asked";
  app->add_option("-p,--prompt", a->prompt, "Answer this and leave")
      ->type_name("TEXT")
      ->group(group);
  app->add_option("-f,--file", a->prompt_file, "... or the text of this file, behind that of -p")
      ->type_name("FILE")
      ->group(group);
  app->add_option("--system", a->system, "How the model is to answer (also: -sys)")
      ->type_name("TEXT")
      ->group(group);
}

void add_answer_options(CLI::App* app, ChatArguments* a) {
  const char* group = "The answer (defaults: the model's own)";
  AnswerSettings& s = a->settings;
  app->add_option("--temp,--temperature", s.temperature, "0 takes the likeliest token")
      ->check(number_between(0, 10).description(""))
      ->group(group);
  app->add_option("--top-k", s.top_k, "Draw from the K likeliest tokens; 0: from all")
      ->check(number_between(0, INFINITY).description(""))
      ->group(group);
  app->add_option("--top-p", s.top_p, "... from the likeliest that have this probability")
      ->check(number_between(0, 1).description(""))
      ->group(group);
  app->add_option("--min-p", s.min_p, "... from those that have this share of the likeliest's")
      ->check(number_between(0, 1).description(""))
      ->group(group);
  app->add_option("--seed", s.seed, "The same seed gives the same answer")
      ->check(number_between(0, INFINITY).description(""))
      ->group(group);
  app->add_option("-n,--predict", s.max_tokens, "At most so many tokens")
      ->check(number_between(1, INFINITY).description(""))
      ->group(group);
  app->add_option("--reasoning", s.reasoning, "on or off, where the model can do both")
      ->type_name("on|off")
      ->transform(CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}})
                      .description(""))
      ->group(group);
}

}  // namespace

ChatArguments parse_chat_arguments(int argc, char** argv) {
  CLI::App app(
      "Chats with a model. With -p, -f or text on standard input it answers once; what goes to a "
      "file or a pipe is the answer alone. Otherwise it asks for one message after the other: "
      "Ctrl-C stops an answer, and leaves when pressed again; a line that ends in \\ goes on; "
      "/help lists the commands.",
      "chat");
  ChatArguments a;
  add_source_options(&app, &a);
  add_prompt_options(&app, &a);
  add_answer_options(&app, &a);
  app.add_flag("--quiet", a.quiet, "No timings");
  const auto check = [&] {
    if (a.local.model.empty() && a.url.empty())
      throw CLI::ValidationError("--model", "or --url must say who answers");
  };
  parse_command_line(&app, argc, argv, check, {{"-sys", "--system"}});
  return a;
}

}  // namespace nmc
