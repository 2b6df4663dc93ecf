// Pages of a prefix cache on disk, so that they outlive the process. Layout: docs/engine.md.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/cache/kv_layout.h"

namespace nmc {

// One page of text: a node of the prefix cache's tree.
struct StoredPage {
  int64_t parent = -1;                   // index of an earlier one; -1: the text begins here
  uint64_t used = 0, sliding_used = 0;   // times of use, comparable with one another
  bool important = false;                // seen twice or named
  bool global = false, sliding = false;  // which pools hold a page of it
  std::array<int32_t, kPageTokens> tokens{};
};

// Whose pages they are.
struct PageFileOwner {
  std::string
      identity;  // of model, template, layout and arithmetic: another one's pages are foreign
  uint64_t global_bytes = 0, sliding_bytes = 0;  // of one page

  uint64_t bytes(const StoredPage& page) const {
    return (page.global ? global_bytes : 0) + (page.sliding ? sliding_bytes : 0);
  }
};

// What a file of no pages takes, and what each page adds beside its own bytes.
inline constexpr uint64_t kPageFileHead = 64;
inline constexpr uint64_t kPageFileEntry = 304;

// Fills `to` with the bytes of the page of `pages[index]` in a pool.
using PageReader = std::function<Status(size_t index, KvPool pool, std::span<uint8_t> to)>;

// Writes a file atomically.
Status write_page_file(const std::filesystem::path& path, const PageFileOwner& owner,
                       const std::vector<StoredPage>& pages, const PageReader& read);

// A file that was read and found whole: every checksum, size and reference holds.
class PageFile {
 public:
  // Errors: kNotFound when there is no file, kUnsupported when it is another owner's, kCorrupt.
  static Result<PageFile> open(const std::filesystem::path& path, const PageFileOwner& owner);

  const std::vector<StoredPage>& pages() const { return pages_; }
  // The bytes of a page; empty when that pool has none of it.
  std::span<const uint8_t> bytes(size_t index, KvPool pool) const;

 private:
  MappedFile file_;
  PageFileOwner owner_;
  std::vector<StoredPage> pages_;
  std::vector<uint64_t> offsets_;  // of each page's bytes
};

}  // namespace nmc
