#include "runtime/cache/page_file.h"

#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"

namespace nmc {
namespace {

constexpr uint8_t kMagic[8] = {'N', 'M', 'C', 'P', 'A', 'G', 'E', 'S'};
constexpr uint64_t kVersion = 1;
constexpr size_t kTokensAt = kPageFileEntry - kPageTokens * sizeof(int32_t);

constexpr uint64_t kImportant = 1, kGlobal = 2, kSliding = 4;  // flags

struct Entry {
  StoredPage page;
  uint64_t checksums[2] = {0, 0};  // of the global and the sliding page
};

void encode(const Entry& e, uint8_t* to) {
  const StoredPage& p = e.page;
  store_le<int64_t>(to, p.parent);
  store_le<uint64_t>(to + 8, p.used);
  store_le<uint64_t>(to + 16, p.sliding_used);
  store_le<uint64_t>(to + 24, e.checksums[0]);
  store_le<uint64_t>(to + 32, e.checksums[1]);
  store_le<uint64_t>(to + 40, (p.important ? kImportant : 0) | (p.global ? kGlobal : 0) |
                                  (p.sliding ? kSliding : 0));
  std::memcpy(to + kTokensAt, p.tokens.data(), sizeof p.tokens);
}

Entry decode(const uint8_t* from) {
  Entry e;
  e.page.parent = load_le<int64_t>(from);
  e.page.used = load_le<uint64_t>(from + 8);
  e.page.sliding_used = load_le<uint64_t>(from + 16);
  e.checksums[0] = load_le<uint64_t>(from + 24);
  e.checksums[1] = load_le<uint64_t>(from + 32);
  const auto flags = load_le<uint64_t>(from + 40);
  e.page.important = flags & kImportant;
  e.page.global = flags & kGlobal;
  e.page.sliding = flags & kSliding;
  std::memcpy(e.page.tokens.data(), from + kTokensAt, sizeof e.page.tokens);
  return e;
}

std::vector<uint8_t> encode_head(const PageFileOwner& owner, std::span<const uint8_t> table) {
  std::vector<uint8_t> head(kPageFileHead);
  std::memcpy(head.data(), kMagic, sizeof kMagic);
  store_le<uint64_t>(&head[8], kVersion);
  store_le<uint64_t>(&head[16], xxh3_64(owner.identity.data(), owner.identity.size()));
  store_le<uint64_t>(&head[24], table.size() / kPageFileEntry);
  store_le<uint64_t>(&head[32], owner.global_bytes);
  store_le<uint64_t>(&head[40], owner.sliding_bytes);
  store_le<uint64_t>(&head[48], xxh3_64(table));
  store_le<uint64_t>(&head[56], xxh3_64(head.data(), 56));
  return head;
}

// The table of a file whose head is sound and this owner's.
Result<std::span<const uint8_t>> check_head(std::span<const uint8_t> file,
                                            const PageFileOwner& owner) {
  if (file.size() < kPageFileHead || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0) {
    return corrupt("this is no file of cached pages");
  }
  if (load_le<uint64_t>(&file[8]) != kVersion) return unsupported("another version wrote it");
  if (load_le<uint64_t>(&file[56]) != xxh3_64(file.data(), 56)) {
    return corrupt("the checksum of its head is wrong");
  }
  if (load_le<uint64_t>(&file[16]) != xxh3_64(owner.identity.data(), owner.identity.size()) ||
      load_le<uint64_t>(&file[32]) != owner.global_bytes ||
      load_le<uint64_t>(&file[40]) != owner.sliding_bytes) {
    return unsupported("it belongs to another model, template or device");
  }
  const auto count = load_le<uint64_t>(&file[24]);
  if (count > (file.size() - kPageFileHead) / kPageFileEntry) return corrupt("it was cut short");
  std::span<const uint8_t> table = file.subspan(kPageFileHead, count * kPageFileEntry);
  if (load_le<uint64_t>(&file[48]) != xxh3_64(table)) {
    return corrupt("the checksum of its table is wrong");
  }
  return table;
}

}  // namespace

Status write_page_file(const std::filesystem::path& path, const PageFileOwner& owner,
                       const std::vector<StoredPage>& pages, const PageReader& read) {
  NMC_ASSIGN(AtomicFile file, AtomicFile::create(path));
  std::vector<uint8_t> table(pages.size() * kPageFileEntry);
  uint64_t offset = kPageFileHead + table.size();
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < pages.size(); ++i) {
    Entry entry{.page = pages[i]};
    for (KvPool pool : {KvPool::kGlobal, KvPool::kSliding}) {
      const bool global = pool == KvPool::kGlobal;
      if (!(global ? pages[i].global : pages[i].sliding)) continue;
      bytes.resize(global ? owner.global_bytes : owner.sliding_bytes);
      NMC_TRY(read(i, pool, bytes));
      entry.checksums[global ? 0 : 1] = xxh3_64(bytes);
      NMC_TRY(file.write_at(offset, bytes));
      offset += bytes.size();
    }
    encode(entry, &table[i * kPageFileEntry]);
  }
  NMC_TRY(file.write_at(kPageFileHead, table));
  NMC_TRY(file.write_at(0, encode_head(owner, table)));
  return file.commit();
}

Result<PageFile> PageFile::open(const std::filesystem::path& path, const PageFileOwner& owner) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return not_found(path.string() + " does not exist");
  PageFile out;
  out.owner_ = owner;
  NMC_ASSIGN(out.file_, MappedFile::open(path));
  const std::span<const uint8_t> file = out.file_.bytes();
  NMC_ASSIGN(std::span<const uint8_t> table, check_head(file, owner));
  uint64_t offset = kPageFileHead + table.size();
  for (size_t at = 0; at < table.size(); at += kPageFileEntry) {
    const Entry entry = decode(&table[at]);
    const auto index = static_cast<int64_t>(out.pages_.size());
    if (entry.page.parent < -1 || entry.page.parent >= index) {
      return corrupt("page " + std::to_string(index) + " refers to a page behind it");
    }
    if (owner.bytes(entry.page) > file.size() - offset) return corrupt("it was cut short");
    out.pages_.push_back(entry.page);
    out.offsets_.push_back(offset);
    offset += owner.bytes(entry.page);
    for (KvPool pool : {KvPool::kGlobal, KvPool::kSliding}) {
      std::span<const uint8_t> bytes = out.bytes(out.pages_.size() - 1, pool);
      if (!bytes.empty() && xxh3_64(bytes) != entry.checksums[pool == KvPool::kGlobal ? 0 : 1]) {
        return corrupt("the checksum of page " + std::to_string(index) + " is wrong");
      }
    }
  }
  if (offset != file.size()) return corrupt("it goes on behind its last page");
  return out;
}

std::span<const uint8_t> PageFile::bytes(size_t index, KvPool pool) const {
  const StoredPage& page = pages_[index];
  const uint64_t global = page.global ? owner_.global_bytes : 0;
  if (pool == KvPool::kGlobal) return file_.bytes().subspan(offsets_[index], global);
  return file_.bytes().subspan(offsets_[index] + global, page.sliding ? owner_.sliding_bytes : 0);
}

}  // namespace nmc
