// XXH3, the project's only checksum. Source: xxHash 0.8 (BSD-2), through Debian's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nmc {

// XXH3-64 with seed 0.
uint64_t xxh3_64(const void* data, size_t bytes);
inline uint64_t xxh3_64(std::span<const uint8_t> s) {
  return xxh3_64(s.data(), s.size());
}

// The same hash over a stream of pieces. Not thread-safe.
class Xxh3Stream {
 public:
  Xxh3Stream();
  ~Xxh3Stream();
  Xxh3Stream(const Xxh3Stream&) = delete;
  Xxh3Stream& operator=(const Xxh3Stream&) = delete;

  void update(const void* data, size_t bytes);
  uint64_t digest() const;

 private:
  void* state_;  // owned XXH3_state_t
};

}  // namespace nmc
