# The flags that every target shares, and one function per kind of target.
add_library(nmc_flags INTERFACE)
target_compile_options(nmc_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror>)
target_include_directories(nmc_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_link_libraries(nmc_flags INTERFACE Threads::Threads)

if(NMC_SANITIZE STREQUAL "thread")
  set(nmc_sanitizers -fsanitize=thread)
elseif(NMC_SANITIZE)
  set(nmc_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
endif()
if(nmc_sanitizers)
  target_compile_options(nmc_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:${nmc_sanitizers};-fno-omit-frame-pointer>")
  target_link_options(nmc_flags INTERFACE ${nmc_sanitizers})
endif()
if(NMC_FUZZ)
  target_compile_options(nmc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# nmc_library(NAME SOURCES a.cpp ... [DEPENDS libs ...]): a static library, PUBLIC dependencies.
function(nmc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC nmc_flags ${ARG_DEPENDS})
endfunction()

# nmc_program(NAME SOURCES ... [DEPENDS ...]): an executable in build/bin.
function(nmc_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nmc_flags ${ARG_DEPENDS})
endfunction()

# nmc_test(NAME SOURCES ... [DEPENDS ...]): a GoogleTest program, one ctest entry per program.
function(nmc_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nmc_flags nmc_test_support ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# nmc_fuzz(NAME SOURCES ... [DEPENDS ...]): a libFuzzer program; nothing unless -DNMC_FUZZ=ON.
function(nmc_fuzz name)
  if(NOT NMC_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nmc_flags ${ARG_DEPENDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
endfunction()
