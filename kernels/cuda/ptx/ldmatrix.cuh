// ldmatrix: four 8 x 8 matrices of 16-bit values from shared memory into one register a lane each.
//
// Lane i gives the address of row i % 8 of matrix i / 8. Afterwards lane i holds elements
// 2 (i % 4) and 2 (i % 4) + 1 of row i / 4 of every matrix (of column i / 4 when transposed).
#pragma once

#include <cstdint>

namespace nmc::ptx {

__device__ __forceinline__ void ldmatrix_x4(uint32_t* r, uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x4_transposed(uint32_t* r, uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

}  // namespace nmc::ptx
