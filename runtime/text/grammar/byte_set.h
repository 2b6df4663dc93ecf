// A set of byte values.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace nmc {

class ByteSet {
 public:
  constexpr ByteSet() = default;

  static ByteSet range(uint8_t low, uint8_t high) {
    ByteSet s;
    for (int b = low; b <= high; ++b) s.add(static_cast<uint8_t>(b));
    return s;
  }
  static ByteSet of(std::string_view bytes) {
    ByteSet s;
    for (char c : bytes) s.add(static_cast<uint8_t>(c));
    return s;
  }

  void add(uint8_t b) { words_[b >> 6] |= uint64_t{1} << (b & 63); }
  bool has(uint8_t b) const { return words_[b >> 6] >> (b & 63) & 1; }
  bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }

  // The set as maximal ranges [first, second], in order.
  std::vector<std::pair<uint8_t, uint8_t>> ranges() const {
    std::vector<std::pair<uint8_t, uint8_t>> out;
    for (int b = next(0, true); b < 256;) {
      const int end = next(b, false);
      out.emplace_back(static_cast<uint8_t>(b), static_cast<uint8_t>(end - 1));
      b = next(end, true);
    }
    return out;
  }

 private:
  // The first byte from `b` on that is in the set, or not, as `member` says; 256 if none is.
  int next(int b, bool member) const {
    while (b < 256) {
      const uint64_t word = member ? words_[b >> 6] : ~words_[b >> 6];
      const uint64_t rest = word >> (b & 63);
      if (rest != 0) return b + std::countr_zero(rest);
      b = (b | 63) + 1;
    }
    return 256;
  }

  std::array<uint64_t, 4> words_{};
};

}  // namespace nmc
