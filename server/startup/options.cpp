#include "server/startup/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "kernels/open.h"
#include "runtime/base/number_between.h"
#include "runtime/base/standard_output.h"

namespace nmc::startup {
namespace {

constexpr int kUsage = 2;
constexpr int64_t kMostContext = int64_t{1} << 30;

CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
}

// One group of the help at a time.
class Group {
 public:
  Group(CLI::App* app, const char* name) : app_(app), name_(name) {}

  template <typename T>
  CLI::Option* add(const char* names, T& value, const char* what, const char* variable) {
    return app_->add_option(names, value, what)
        ->envname(variable)
        ->capture_default_str()
        ->group(name_);
  }
  CLI::Option* flag(const char* names, bool& value, const char* what, const char* variable) {
    return app_->add_flag(names, value, what)->envname(variable)->group(name_);
  }

 private:
  CLI::App* app_;
  const char* name_;
};

void add_model_options(CLI::App* app, Options* o) {
  Group group(app, "Model");
  group.add("-m,--model", o->model, "The .nmc file to serve", "NMC_MODEL")->required();
  group.add("-a,--alias", o->alias, "The model's name for clients (default: the file's stem)",
            "NMC_ALIAS");
  group.add("--device", o->device,
            ("Where to compute: auto, " + executor_names() +
             "; several, such as cuda:0,1: an engine each, on one port")
                .c_str(),
            "NMC_DEVICE");
  group
      .add("-c,--ctx-size", o->context,
           "Tokens of one conversation; 0: the model's context, or what memory allows",
           "NMC_CTX_SIZE")
      ->check(CLI::Range(int64_t{0}, kMostContext));
}

void add_request_options(CLI::App* app, Options* o) {
  Group group(app, "Requests");
  group
      .add("--parallel", o->parallel, "Requests that run at once on each device (also: -np)",
           "NMC_PARALLEL")
      ->check(CLI::Range(1, 1024));
  group
      .add("--max-queue", o->max_queue, "Requests that may wait; further ones get 429",
           "NMC_MAX_QUEUE")
      ->check(CLI::Range(1, 100'000));
  group
      .add("--decode-share", o->decode_share,
           "Of the time while prompts are read, what running answers get, 0 to 0.95",
           "NMC_DECODE_SHARE")
      ->check(number_between(0, 0.95));
}

void add_memory_options(CLI::App* app, Options* o) {
  Group group(app, "Memory");
  group
      .add("--kv-memory", o->kv_memory,
           "Bytes for keys and values of each device, such as 8GiB; 0: half of what is free beside "
           "the "
           "weights",
           "NMC_KV_MEMORY")
      ->transform(CLI::AsSizeValue(false));
  group.add("--cache-file", o->cache_file,
            "Where cached prefixes outlive the server; read at its start, written at its end",
            "NMC_CACHE_FILE");
}

void add_http_options(CLI::App* app, Options* o) {
  Group group(app, "HTTP");
  group
      .add("--host", o->host,
           "The address to listen on, or the path of a Unix socket (with a / or ending in .sock)",
           "NMC_HOST")
      ->check(not_empty());
  group
      .add("--port", o->port, "The port to listen on; 0: a free one, printed at the start",
           "NMC_PORT")
      ->check(CLI::Range(0, 65535));
  group
      .add("--threads-http", o->http_threads,
           "Requests answered at once, up to 960; 0: --parallel + --max-queue + 16",
           "NMC_THREADS_HTTP")
      ->check(CLI::Range(int64_t{0}, kMostHttpThreads));
  group
      .add("--timeout", o->timeout,
           "Seconds a client may take to send a request, or to take a piece of an answer",
           "NMC_TIMEOUT")
      ->check(number_between(0.1, 86400, " of seconds"));
  group
      .add("--sse-ping-interval", o->ping,
           "Seconds after which a silent stream sends a comment line", "NMC_SSE_PING_INTERVAL")
      ->check(number_between(0.05, 86400, " of seconds"));
}

void add_access_options(CLI::App* app, Options* o, std::string* key_file) {
  Group group(app, "Access");
  group
      .add("--api-key", o->api_keys,
           "Keys of which a request must bear one, separated by commas (default: no key)",
           "NMC_API_KEY")
      ->delimiter(',');
  group.add("--api-key-file", *key_file, "A file with one key on each line", "NMC_API_KEY_FILE");
  group
      .add("--cors-origins", o->cors_origins,
           "Origins whose pages may read answers, separated by commas; *: all (default: none)",
           "NMC_CORS_ORIGINS")
      ->delimiter(',');
}

void add_log_options(CLI::App* app, Options* o) {
  Group group(app, "Log");
  group.flag("-v,--verbose", o->verbose, "Log each request's status and time", "NMC_VERBOSE");
  group.flag("--log-prompts", o->log_prompts, "Log the bodies of requests, too", "NMC_LOG_PROMPTS");
}

// Blank lines, and lines that begin with #, are no keys.
bool read_keys(const std::string& path, std::vector<std::string>* keys) {
  std::ifstream file(path);
  std::string line;
  const size_t before = keys->size();
  while (std::getline(file, line)) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (!line.empty() && line[0] != '#') keys->push_back(line);
  }
  return file.eof() && keys->size() > before;
}

[[noreturn]] void usage_error(const std::string& message) {
  std::fprintf(stderr, "server: %s; see server --help\n", message.c_str());
  std::exit(kUsage);
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
  add_memory_options(&app, &o);
  add_http_options(&app, &o);
  std::string key_file;
  add_access_options(&app, &o, &key_file);
  add_log_options(&app, &o);
  app.set_version_flag("--version", std::string("nmc ") + NMC_VERSION);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) std::exit(exit_code_after_output("server", app.exit(e)));
    usage_error(e.what());
  }
  // An empty key would let everybody in who sends none.
  if (std::count(o.api_keys.begin(), o.api_keys.end(), "") > 0) {
    usage_error("--api-key: a key must not be empty");
  }
  if (!key_file.empty() && !read_keys(key_file, &o.api_keys)) {
    usage_error("--api-key-file: " + key_file + " cannot be read, or holds no key");
  }
  if (o.alias.empty()) o.alias = o.model.stem().string();
  return o;
}

}  // namespace nmc::startup
