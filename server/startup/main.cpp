// server: one .nmc model behind an OpenAI-compatible HTTP API.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

#include "runtime/base/interrupt.h"
#include "runtime/base/log.h"
#include "runtime/base/standard_output.h"
#include "server/api/service.h"
#include "server/http/http_server.h"
#include "server/startup/banner.h"
#include "server/startup/load.h"
#include "server/startup/options.h"

namespace {

using nmc::startup::Options;
using std::chrono::milliseconds;

constexpr int kFailure = 1;
constexpr milliseconds kTick{50};
// How long running requests may go on after SIGTERM, and then take to say goodbye.
constexpr milliseconds kGrace{5000};
constexpr milliseconds kGoodbye{3000};

milliseconds from_seconds(double seconds) {
  return milliseconds(static_cast<int64_t>(seconds * 1000));
}

nmc::http::ServerOptions http_options(const Options& options) {
  nmc::http::ServerOptions http;
  http.host = options.host;
  http.port = options.port;
  http.limits.transfer_time = from_seconds(options.timeout);
  http.limits.header_time = std::min(http.limits.header_time, http.limits.transfer_time);
  const int64_t devices = 1 + std::count(options.device.begin(), options.device.end(), ',');
  int64_t wanted = options.http_threads > 0 ? options.http_threads
                                            : devices * (options.parallel + options.max_queue) + 16;
  http.limits.connections = static_cast<size_t>(std::min(wanted, nmc::startup::kMostHttpThreads));
  return http;
}

nmc::api::ServiceOptions service_options(const Options& options) {
  return {.ping = from_seconds(options.ping),
          .access = {.keys = options.api_keys, .origins = options.cors_origins},
          .log_prompts = options.log_prompts};
}

int fail(const nmc::Status& status) {
  std::fprintf(stderr, "%s: %s\n", nmc::program_name(), status.message().c_str());
  return kFailure;
}

// Waits until no request is active; false when the time is over first.
bool wait_until_idle(const nmc::api::Service& service, milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (service.active() > 0) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kTick);
  }
  return true;
}

// The listening socket stays open until the end, so that no stream is cut by its closing.
void shut_down(nmc::api::Service& service, nmc::http::HttpServer& http) {
  nmc::log_info("stopping: running requests have " + std::to_string(kGrace.count() / 1000) +
                " s to end; a second signal ends them at once");
  service.drain();
  if (!wait_until_idle(service, kGrace)) {
    service.cut();
    wait_until_idle(service, kGoodbye);
  }
  http.stop();
}

int serve(const Options& options) {
  nmc::api::Service service(service_options(options));
  auto http = nmc::http::HttpServer::start(
      http_options(options),
      [&](const nmc::http::Request& request, nmc::http::Client& client) {
        return service.handle(request, client);
      },
      [&](const nmc::http::Request& request, nmc::http::Response* refusal) {
        service.dress(request, refusal);
      });
  if (!http.ok()) return fail(http.status());
  const std::string url = nmc::startup::url_of(options.host, (*http)->port());
  nmc::log_info("loading " + options.model.string() + "; " + url +
                " answers 503 until it is ready");

  auto loading = std::async(std::launch::async, [&] { return nmc::startup::load(options); });
  while (loading.wait_for(kTick) != std::future_status::ready) {
    // Loading cannot be interrupted, and there is nothing to clean up.
    if (nmc::interrupted()) std::_Exit(0);
  }
  auto loaded = loading.get();
  if (!loaded.ok()) return fail(loaded.status());
  const std::string banner = nmc::startup::banner(*loaded, url, !options.api_keys.empty());
  service.serve(std::move(loaded->model));
  std::fputs(banner.c_str(), stdout);  // whoever reads it may ask
  std::fflush(stdout);

  while (!nmc::interrupted()) {
    if (!(*http)->running()) {
      return fail(
          nmc::io_error("the system closed the listening socket; see the limit of open "
                        "files and start the server again"));
    }
    std::this_thread::sleep_for(kTick);
  }
  shut_down(service, **http);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  nmc::catch_interrupts();
  Options options = nmc::startup::parse_options(argc, argv);
  if (options.verbose) nmc::set_log_level(nmc::LogLevel::kDebug);
  return serve(options);
}
