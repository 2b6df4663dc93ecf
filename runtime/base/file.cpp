#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace nmc {
namespace {

Status errno_status(const std::string& action, const std::filesystem::path& path) {
  int error = errno;
  std::string message = "cannot " + action + " " + path.string() + ": " + std::strerror(error);
  if (error == ENOENT) return not_found(message);
  if (error == ENOSPC) message += " (free some space or choose another output folder)";
  return io_error(message);
}

uint64_t page_floor(uint64_t v) {
  return v & ~uint64_t{4095};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK opening a FIFO would wait for a writer; regular files do not notice.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno_status("open", path);
  struct stat st {};
  bool known = ::fstat(fd, &st) == 0;
  if (!known || !S_ISREG(st.st_mode)) {
    Status s = known ? io_error("cannot read " + path.string() + ": it is not a regular file")
                     : errno_status("inspect", path);
    ::close(fd);
    return s;
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<size_t>(st.st_size);
  if (file.size_ > 0) {
    void* p = ::mmap(nullptr, file.size_, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
      Status s = errno_status("map", path);
      ::close(fd);
      return s;
    }
    file.data_ = static_cast<const uint8_t*>(p);
  }
  ::close(fd);
  return file;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<uint8_t*>(data_), size_);
}
MappedFile::MappedFile(MappedFile&& other) noexcept {
  *this = std::move(other);
}
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

void MappedFile::advise_dont_need(uint64_t offset, uint64_t bytes) const {
  uint64_t begin = page_floor(offset);
  ::madvise(const_cast<uint8_t*>(data_) + begin, offset + bytes - begin, MADV_DONTNEED);
}
void MappedFile::advise_will_need(uint64_t offset, uint64_t bytes) const {
  uint64_t begin = page_floor(offset);
  ::madvise(const_cast<uint8_t*>(data_) + begin, offset + bytes - begin, MADV_WILLNEED);
}

Result<std::string> read_file(const std::filesystem::path& path, uint64_t limit) {
  NMC_ASSIGN(MappedFile file, MappedFile::open(path));
  if (file.bytes().size() > limit) {
    return invalid_argument(path.string() + " has " + std::to_string(file.bytes().size()) +
                            " bytes; at most " + std::to_string(limit) + " are accepted");
  }
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& wanted) {
  // Renaming replaces whatever has the name: a link keeps pointing to the new file, and a device, a
  // pipe or a folder is never replaced.
  std::error_code error;
  std::filesystem::path path = wanted;
  if (std::filesystem::exists(wanted, error)) {
    if (!std::filesystem::is_regular_file(wanted, error)) {
      return invalid_argument("cannot write " + wanted.string() +
                              ": it exists and is not a regular file; choose another name");
    }
    path = std::filesystem::canonical(wanted, error);
    if (error) path = wanted;
  }
  // Two writers of one file, threads or machines, must not share their temporary.
  std::random_device random;
  for (int attempts = 0;; ++attempts) {
    std::filesystem::path temporary = path;
    temporary += ".partial-" + std::to_string(random());
    int fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0) return AtomicFile(path, std::move(temporary), fd);
    constexpr int kAttempts = 100;
    if (errno != EEXIST || attempts == kAttempts) return errno_status("create", temporary);
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}
AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {}

Status AtomicFile::write_at(uint64_t offset, std::span<const uint8_t> data) {
  while (!data.empty()) {
    ssize_t n = ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return errno_status("write", temporary_);
    data = data.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Status AtomicFile::resize(uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return errno_status("resize", temporary_);
  return {};
}

Status AtomicFile::commit() {
  if (::fsync(fd_) != 0) return errno_status("sync", temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return errno_status("rename to", path_);
  ::close(std::exchange(fd_, -1));
  std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  if (int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
    ::fsync(fd);  // best effort: some file systems refuse to sync a folder
    ::close(fd);
  }
  return {};
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  NMC_ASSIGN(AtomicFile file, AtomicFile::create(path));
  NMC_TRY(file.write_at(0, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  return file.commit();
}

}  // namespace nmc
