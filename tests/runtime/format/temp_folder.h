// A folder that is empty at the start of a test and gone after it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace nmc {

class TempFolder : public ::testing::Test {
 protected:
  TempFolder()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("nmc-format-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TempFolder() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_;
};

}  // namespace nmc
