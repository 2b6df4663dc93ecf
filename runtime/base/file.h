// Files: read-only mappings, bounded whole reads, and output that appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "runtime/base/status.h"

namespace nmc {

// A whole file mapped read-only. Movable; the mapping ends with the object. Thread-safe to read.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

  // Asks the kernel to drop (or read ahead) the pages of a range: keeps a streaming reader small.
  void advise_dont_need(uint64_t offset, uint64_t bytes) const;
  void advise_will_need(uint64_t offset, uint64_t bytes) const;

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::filesystem::path path_;
};

// The whole file as a string; a file larger than `limit` bytes is refused by name.
Result<std::string> read_file(const std::filesystem::path& path, uint64_t limit);

// A file that is written under a temporary name beside `path` and takes its name in `commit`
// (data synced, renamed, folder synced). Destroyed before that, it leaves nothing behind.
class AtomicFile {
 public:
  // A link is followed; what exists and is no regular file is refused.
  static Result<AtomicFile> create(const std::filesystem::path& wanted);

  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  // Writes at an absolute offset. Thread-safe for ranges that do not overlap.
  Status write_at(uint64_t offset, std::span<const uint8_t> data);
  // Sets the length; unwritten ranges read as zero.
  Status resize(uint64_t bytes);
  Status commit();

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

  std::filesystem::path path_, temporary_;
  int fd_ = -1;
};

// `text` written atomically to `path`.
Status write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace nmc
