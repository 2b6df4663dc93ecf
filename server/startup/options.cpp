#include "server/startup/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "kernels/open.h"

namespace nmc::startup {
namespace {

constexpr int kUsage = 2;

void add_model_options(CLI::App* app, Options* o) {
  app->add_option("-m,--model", o->model, "The .nmc file to serve")
      ->envname("NMC_MODEL")
      ->required()
      ->group("Model");
  app->add_option("-a,--alias", o->alias, "The model's name for clients (default: the file's stem)")
      ->envname("NMC_ALIAS")
      ->group("Model");
  app->add_option("--device", o->device, "Where to compute: auto, " + executor_names())
      ->envname("NMC_DEVICE")
      ->capture_default_str()
      ->group("Model");
  app->add_option("-c,--ctx-size", o->context,
                  "Tokens of one conversation; 0: the model's context, or what memory allows")
      ->envname("NMC_CTX_SIZE")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Model");
}

void add_request_options(CLI::App* app, Options* o) {
  app->add_option("--parallel", o->parallel, "Requests that run at once (also: -np)")
      ->envname("NMC_PARALLEL")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group("Requests");
  app->add_option("--max-queue", o->max_queue, "Requests that may wait; further ones get 429")
      ->envname("NMC_MAX_QUEUE")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str()
      ->group("Requests");
}

void add_http_options(CLI::App* app, Options* o) {
  app->add_option("--host", o->host, "The address to listen on")
      ->envname("NMC_HOST")
      ->capture_default_str()
      ->group("HTTP");
  app->add_option("--port", o->port, "The port to listen on; 0: a free one, printed at the start")
      ->envname("NMC_PORT")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->group("HTTP");
  app->add_option("--threads-http", o->http_threads,
                  "Connections served at once, up to 960; 0: --parallel + --max-queue + 16")
      ->envname("NMC_THREADS_HTTP")
      ->check(CLI::Range(int64_t{0}, kMostHttpThreads))
      ->capture_default_str()
      ->group("HTTP");
  app->add_option("--timeout", o->timeout,
                  "Seconds a client may take to send a request, or to take a piece of an answer")
      ->envname("NMC_TIMEOUT")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str()
      ->group("HTTP");
  app->add_option("--sse-ping-interval", o->ping,
                  "Seconds after which a silent stream sends a comment line")
      ->envname("NMC_SSE_PING_INTERVAL")
      ->check(CLI::Range(0.05, 86400.0))
      ->capture_default_str()
      ->group("HTTP");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app("Serves a .nmc model over an OpenAI-compatible HTTP API.", "server");
  Options o;
  // "-np" as other servers write it; the parser takes a single dash for one letter only.
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = argv[i];
    arguments.push_back(argument == "-np" ? "--parallel" : argument);
  }
  add_model_options(&app, &o);
  add_request_options(&app, &o);
  add_http_options(&app, &o);
  app.add_flag("-v,--verbose", o.verbose, "Log every request")->envname("NMC_VERBOSE");
  app.set_version_flag("--version", std::string("nmc ") + NMC_VERSION);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) std::exit(app.exit(e));
    std::fprintf(stderr, "server: %s; see server --help\n", e.what());
    std::exit(kUsage);
  }
  if (o.alias.empty()) o.alias = o.model.stem().string();
  return o;
}

}  // namespace nmc::startup
