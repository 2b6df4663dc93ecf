// A hash of 64 bits that host and device compute alike.
#pragma once

#include <cstdint>

namespace nmc {

// 64 well-mixed bits: the output of the splitmix64 generator at state `state`.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
constexpr uint64_t splitmix64(uint64_t state) {
  uint64_t z = state + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace nmc
