# Most of a file's compile time is its headers. ccache saves them where it is installed; elsewhere
# several files of a target are compiled as one, which costs a third. The first finds an #include
# that a file lacks, the second two files of a target that give one name to two things.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  option(CMAKE_UNITY_BUILD "Compile several files of a target as one" OFF)
else()
  option(CMAKE_UNITY_BUILD "Compile several files of a target as one" ON)
endif()
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
