# Every third-party library the project links, and the Debian package that brings it.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)  # nlohmann-json3-dev
find_package(CLI11 2.1 REQUIRED)           # libcli11-dev
find_package(PkgConfig REQUIRED)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)  # libcpp-httplib-dev, libssl-dev
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)     # libpcre2-dev
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc) # libutf8proc-dev
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)  # libsentencepiece-dev
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)     # libxxhash-dev
