#include "server/api/web_page.h"

#include <string>

#include "server/web/files.h"

namespace nmc::api {
namespace {

constexpr std::string_view kFolder = "/web/";
constexpr std::string_view kIndex = "index.html";

// Scripts and styles from here alone, no frames, no forms that leave, requests to this server only.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

const char* content_type(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "text/html; charset=utf-8";
}

// The name of the file that is asked for; empty when it is none.
std::string_view wanted(std::string_view path) {
  if (path == "/") return kIndex;
  if (!path.starts_with(kFolder)) return {};
  path.remove_prefix(kFolder.size());
  return path == kIndex ? std::string_view() : path;
}

}  // namespace

std::optional<http::Response> web_page(const http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  const std::string_view name = wanted(request.path);
  for (const web::File& file : web::files()) {
    if (file.name != name) continue;
    http::Response response;
    response.content_type = content_type(file.name);
    response.headers = {{"Content-Security-Policy", kPolicy},
                        {"X-Content-Type-Options", "nosniff"},
                        {"Referrer-Policy", "no-referrer"},
                        {"Cross-Origin-Opener-Policy", "same-origin"},
                        {"Cache-Control", "no-cache"}};
    response.body = file.content;
    return response;
  }
  return std::nullopt;
}

}  // namespace nmc::api
