// The files of the chat page, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace nmc::web {

struct File {
  std::string_view name;  // "index.html"
  std::string_view content;
};

std::span<const File> files();

}  // namespace nmc::web
