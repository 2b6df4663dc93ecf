# Decides whether the CUDA executor is built: NMC_HAS_CUDA is the answer everyone else reads.
set(NMC_HAS_CUDA OFF)
if(NOT NMC_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES OFF)  # kernels/cuda passes sm_90a itself
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -lineinfo")  # asserts stay on, as in C++
    enable_language(CUDA)
    # CMake 3.25 does not know that this compiler speaks C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    set(NMC_HAS_CUDA ON)
  elseif(NMC_CUDA STREQUAL "ON")
    message(FATAL_ERROR "NMC_CUDA=ON, but no nvcc was found. Put nvcc on the PATH, or use -DNMC_CUDA=OFF.")
  endif()
endif()
message(STATUS "CUDA executor: ${NMC_HAS_CUDA}")
