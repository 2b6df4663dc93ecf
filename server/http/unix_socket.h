// A listening socket that is a file.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace nmc::http {

// "server.sock", "/run/nmc/socket": what names a file and no host.
bool is_unix_path(const std::string& host);

// A bound and listening socket, which the caller is to close; its file is for the user and the
// group. The file of a server that is gone is replaced; a file that is no socket, or one on which
// somebody listens, is an error.
Result<int> listen_on_unix_path(const std::string& path);

}  // namespace nmc::http
