// cp.async.bulk.tensor: one thread moves a box of a tensor that a map describes to shared memory.
//
// The whole box counts towards the barrier's phase, also where it sticks out of the tensor: zeros
// are written there.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/ptx/address.cuh"

namespace nmc::ptx {

// The map stands in a kernel's parameters (__grid_constant__). `at`: the box's first element in
// each dimension, innermost first.
__device__ __forceinline__ void tensor_load(uint32_t shared_to, const CUtensorMap& map,
                                            const int (&at)[4], uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3, %4, %5}], [%6];" ::"r"(shared_to),
      "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(shared_address(barrier))
      : "memory");
}

}  // namespace nmc::ptx
