#include "server/startup/options.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "kernels/open.h"
#include "runtime/base/command_line.h"

namespace nmc::startup {
namespace {

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
  CLI::Option* add(const char* names, const char* type, T& value, const std::string& what,
                   const char* variable) {
    return app_->add_option(names, value, what)
        ->type_name(type)
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
  group.add("-m,--model", "FILE", o->model, "The .nmc file to serve", "NMC_MODEL")->required();
  group.add("-a,--alias", "NAME", o->alias,
            "The model's name for clients (default: the file's stem)", "NMC_ALIAS");
  group.add("--device", "NAME,NAME", o->device,
            "Where to compute: auto, " + executor_names() +
                "; several, such as cuda:0,1: an engine each, on one port",
            "NMC_DEVICE");
  group
      .add("-c,--ctx-size", "N", o->context,
           "Tokens of one conversation; 0: the model's context, or what memory allows",
           "NMC_CTX_SIZE")
      ->check(CLI::Range(int64_t{0}, kMostContext));
}

void add_request_options(CLI::App* app, Options* o) {
  Group group(app, "Requests");
  group
      .add("--parallel", "N", o->parallel, "Requests that run at once on each device (also: -np)",
           "NMC_PARALLEL")
      ->check(CLI::Range(1, 1024));
  group
      .add("--max-queue", "N", o->max_queue, "Requests that may wait; further ones get 429",
           "NMC_MAX_QUEUE")
      ->check(CLI::Range(1, 100'000));
  group
      .add("--decode-share", "SHARE", o->decode_share,
           "Of the time while prompts are read, what running answers get, 0 to 0.95",
           "NMC_DECODE_SHARE")
      ->check(number_between(0, 0.95));
}

void add_memory_options(CLI::App* app, Options* o) {
  Group group(app, "Memory");
  group
      .add("--kv-memory", "BYTES", o->kv_memory,
           "Bytes for keys and values of each device, such as 8GiB; 0: half of what is free beside "
           "the weights, on a GPU all of it",
           "NMC_KV_MEMORY")
      ->transform(CLI::AsSizeValue(false));
  group.add("--cache-file", "FILE", o->cache_file,
            "Where cached prefixes outlive the server; read at its start, written at its end",
            "NMC_CACHE_FILE");
}

void add_http_options(CLI::App* app, Options* o) {
  Group group(app, "HTTP");
  group
      .add("--host", "ADDRESS", o->host,
           "The address to listen on, or the path of a Unix socket (with a / or ending in .sock)",
           "NMC_HOST")
      ->check(not_empty());
  group
      .add("--port", "N", o->port, "The port to listen on; 0: a free one, printed at the start",
           "NMC_PORT")
      ->check(CLI::Range(0, 65535));
  group
      .add("--threads-http", "N", o->http_threads,
           "Requests answered at once, up to 960; 0: --parallel + --max-queue + 16",
           "NMC_THREADS_HTTP")
      ->check(CLI::Range(int64_t{0}, kMostHttpThreads));
  group
      .add("--timeout", "SECONDS", o->timeout,
           "Seconds a client may take to send a request, or to take a piece of an answer",
           "NMC_TIMEOUT")
      ->check(number_between(0.1, 86400, " of seconds"));
  group
      .add("--sse-ping-interval", "SECONDS", o->ping,
           "Seconds after which a silent stream sends a comment line", "NMC_SSE_PING_INTERVAL")
      ->check(number_between(0.05, 86400, " of seconds"));
}

void add_access_options(CLI::App* app, Options* o, std::string* key_file) {
  Group group(app, "Access");
  group
      .add("--api-key", "KEY,KEY", o->api_keys,
           "Keys of which a request must bear one, separated by commas (default: no key)",
           "NMC_API_KEY")
      ->delimiter(',');
  group.add("--api-key-file", "FILE", *key_file, "A file with one key on each line",
            "NMC_API_KEY_FILE");
  group
      .add("--cors-origins", "URL,URL", o->cors_origins,
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

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app(
      "Serves a .nmc model over an OpenAI-compatible HTTP API. Each option can come from the "
      "environment variable in brackets; the command line wins.",
      "server");
  Options o;
  add_model_options(&app, &o);
  add_request_options(&app, &o);
  add_memory_options(&app, &o);
  add_http_options(&app, &o);
  std::string key_file;
  add_access_options(&app, &o, &key_file);
  add_log_options(&app, &o);
  app.footer(
      "Exit codes: 0 after SIGINT or SIGTERM; 1 when it cannot serve, with a sentence on standard "
      "error;\n"
      "2 for a wrong command line.");
  parse_command_line(&app, argc, argv, {}, {{"-np", "--parallel"}});
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
