// Sizes of the wide decode kernel: 9 to 64 rows. Rows do not fit the shared memory of an SM beside
// the weights, so they flow as well: in blocks of 16, the m of a product, each fetched from the L2
// just before the weights that it meets.
#pragma once

#include "kernels/cuda/decode/geometry.cuh"

namespace nmc::decode::wide {

constexpr int kBlockRows = 16;

// Vectors lie in global memory as they shall lie in shared memory: 16 bytes between two of them, so
// that ldmatrix finds 8 rows in 8 different groups of banks.
constexpr int kPad = 16;
constexpr int kXBytes = kHidden * 2 + kPad;
constexpr int kPieceBytes = 1024 * 2 + kPad;     // a quarter of O's input
constexpr int kHiddenBytes = kWidth * 2 + kPad;  // hidden units of an entry (routing.cuh)

// Slots of the ring of rows, and how many rows of each kind one takes.
constexpr int kRowSlots = 4;
constexpr int kXPerSlot = 4, kPiecesPerSlot = 8, kHiddenPerSlot = 10;
constexpr uint32_t kRowSlotBytes = 129 * 128;
static_assert(kXPerSlot * kXBytes <= kRowSlotBytes &&
              kPiecesPerSlot * kPieceBytes <= kRowSlotBytes &&
              kHiddenPerSlot * kHiddenBytes <= kRowSlotBytes);
static_assert(kRowSlots * kXPerSlot == kBlockRows);

constexpr int kWeightSlots = 6;
constexpr int kSumSlots = 5;

// Gate and up: the experts of a layer are dealt to sets of CTAs in turn, and the CTAs of a set
// share an expert's groups. More sets, fewer fetches of the same rows; but the last round of
// experts may leave sets idle.
constexpr int kSets = 2;
constexpr int kSetCtas = kCtas / kSets;
constexpr int kOwnGroups = kUpGroups / kSetCtas;

}  // namespace nmc::decode::wide
