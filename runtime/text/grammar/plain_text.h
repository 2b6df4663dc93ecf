// Plain text: UTF-8 that stands unescaped in a JSON string. Most tokens are nothing else, so masks
// treat it in bulk.
#pragma once

#include <cstdint>

namespace nmc {

// How far a character has been read. Source: table 3-7 of the Unicode standard.
enum class PlainState : uint8_t {
  kBoundary,  // no character is open
  kOne,       // one more byte of 0x80 to 0xbf, ...
  kTwo,
  kThree,
  kAfterE0,  // two more, the first of a smaller range, ...
  kAfterEd,
  kAfterF0,  // ... three more
  kAfterF4,
  kInvalid,
};
inline constexpr int kPlainStates = 8;  // without kInvalid

constexpr PlainState next_plain(PlainState state, uint8_t b) {
  using enum PlainState;
  auto within = [b](uint8_t low, uint8_t high, PlainState next) {
    return b >= low && b <= high ? next : kInvalid;
  };
  switch (state) {
    case kBoundary:
      if (b < 0x80) return b >= 0x20 && b != '"' && b != '\\' ? kBoundary : kInvalid;
      if (b == 0xe0) return kAfterE0;
      if (b == 0xed) return kAfterEd;
      if (b == 0xf0) return kAfterF0;
      if (b == 0xf4) return kAfterF4;
      return b < 0xe0 ? within(0xc2, 0xdf, kOne) : b < 0xf0 ? kTwo : within(0xf1, 0xf3, kThree);
    case kOne:
      return within(0x80, 0xbf, kBoundary);
    case kTwo:
      return within(0x80, 0xbf, kOne);
    case kThree:
      return within(0x80, 0xbf, kTwo);
    case kAfterE0:
      return within(0xa0, 0xbf, kOne);
    case kAfterEd:
      return within(0x80, 0x9f, kOne);
    case kAfterF0:
      return within(0x90, 0xbf, kTwo);
    case kAfterF4:
      return within(0x80, 0x8f, kTwo);
    case kInvalid:
      break;
  }
  return kInvalid;
}

}  // namespace nmc
