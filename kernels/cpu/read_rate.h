// How fast this machine's threads can read memory: what decoding is compared with.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/threads.h"

namespace nmc::cpu {

// All threads of `pool` read every byte once, each a share of its own, in several streams so that
// enough lines are on their way. Returns the seconds it took. What lies in a cache is read from
// there: take many times the last cache to learn what memory gives, or the bytes of a model to
// learn what it could be read at.
double read_seconds(std::span<const uint8_t> bytes, ThreadPool* pool);

}  // namespace nmc::cpu
