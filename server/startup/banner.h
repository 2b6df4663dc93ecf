// What the server prints once, when it is ready.
#pragma once

#include <string>

#include "server/startup/load.h"

namespace nmc::startup {

// The model, its sizes and its address, then an opencode.json that fits them.
std::string banner(const Loaded& loaded, const std::string& url);

// "http://127.0.0.1:8080". An address that means "all" is shown as the local one.
std::string url_of(const std::string& host, int port);

}  // namespace nmc::startup
