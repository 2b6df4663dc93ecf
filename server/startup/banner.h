// What the server prints once, when it is ready.
#pragma once

#include <string>

#include "server/startup/load.h"

namespace nmc::startup {

// The model, its sizes and its address, then an opencode.json that fits them.
// With `keyed`, clients are told to send the key of $NMC_API_KEY.
std::string banner(const Loaded& loaded, const std::string& url, bool keyed);

// "http://127.0.0.1:8080", or "unix:PATH" where there is no port. An address that means "all" is
// shown as the local one.
std::string url_of(const std::string& host, int port);

}  // namespace nmc::startup
